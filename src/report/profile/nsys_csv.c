#include "report/profile/nsys_csv.h"

#include "base/array.h"
#include "report/format/csv_writer.h"
#include "report/profile/profile_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *header;
} reports[NSYS_COUNT] = {
#define NSYS_REPORT(id, name, header) {name, header},
#include "report/profile/nsys_reports.def"
};

const char *nsys_csv_name(NsysReport report)
{
    return reports[report].name;
}

const char *nsys_csv_header(NsysReport report)
{
    return reports[report].header;
}

/* ---- a row of a sum ---- */

typedef struct Row {
    char name[256]; /* of a range; otherwise `text` */
    const char *text;
    ViewStats t;
    ViewStats range; /* of a projection: the range's own time */
    double ops;      /* of a projection, all instances */
    int level, children;
} Row;

static int by_total(const void *a, const void *b)
{
    const Row *x = a, *y = b;
    return (x->t.total < y->t.total) - (x->t.total > y->t.total);
}

/* `all` is what the rows take together. */
static void put_row(Text *out, NsysReport report, const Row *row, double all)
{
    const double mb = 1e-6;
    const char *name = row->text ? row->text : row->name;
    const ViewStats *t = &row->t;
    const long long n = t->n;
    if (report == NSYS_PROJECTION) {
        csv_writer_field(out, name);
        text_printf(out, ",PushPop,%.0f,%.0f,%lld,%.1f,%.1f,%.0f,%.0f,%.1f,%.0f,%.1f,%.1f,%.1f\n",
                    t->total, row->range.total, n, t->avg, t->med, t->min, t->max, t->std, row->ops,
                    row->ops / (double)n, (double)row->level, (double)row->children);
        return;
    }
    if (report == NSYS_MEMORY_SIZE)
        text_printf(out, "%.3f,%lld,%.3f,%.3f,%.3f,%.3f,%.3f,", t->total * mb, n, t->avg * mb,
                    t->med * mb, t->min * mb, t->max * mb, t->std * mb);
    else
        text_printf(out, "%.1f,%.0f,%lld,%.1f,%.1f,%.0f,%.0f,%.1f,",
                    all > 0 ? 100 * t->total / all : 0, t->total, n, t->avg, t->med, t->min, t->max,
                    t->std);
    csv_writer_field(out, name);
    text_puts(out, "\n");
}

/* ---- which rows ---- */

typedef struct Rows {
    Row *rows;
    int n;
} Rows;

/* NULL: it never happened, and has no row. */
static Row *add(Rows *rows, const ViewStats *t, const char *text)
{
    if (t->n == 0) return NULL;
    rows->rows[rows->n] = (Row){.t = *t, .text = text};
    return &rows->rows[rows->n++];
}

static void add_names(Rows *rows, const ViewName *names, int n, bool kernels, bool sizes)
{
    for (int i = 0; i < n; i++) {
        if ((strcmp(names[i].kind, "kernel") == 0) != kernels) continue;
        add(rows, sizes ? &names[i].bytes : &names[i].time, names[i].name);
    }
}

static int children_of(const ProfileView *v, const ViewRange *parent)
{
    const size_t n = strlen(parent->name);
    int children = 0;
    for (int i = 0; i < v->n_ranges; i++) {
        const ViewRange *range = &v->ranges[i];
        children += range->phase == parent->phase && range->level == parent->level + 1 &&
                    strncmp(range->name, parent->name, n) == 0 && range->name[n] == '/';
    }
    return children;
}

static double phase_ops(const ProfileView *v, Phase phase)
{
    double nodes = 0;
    if (v->gpu) return (double)v->phases[phase].kernels;
    for (int i = 0; i < v->n_ops; i++) {
        if (v->ops[i].phase == phase) nodes += (double)v->ops[i].time.n;
    }
    return nodes;
}

/* A projection is the time on the GPU; on a CPU the nodes themselves. */
static void add_phase(Rows *rows, const ProfileView *v, Phase phase, bool projection)
{
    const ViewPhase *at = &v->phases[phase];
    if (!at->there) return;
    Row *row = add(rows, projection && v->gpu ? &at->span : &at->wall, NULL);
    if (!row) return;
    snprintf(row->name, sizeof row->name, ":%s", profile_cells_phase(phase));
    row->range = at->wall;
    row->ops = phase_ops(v, phase);
    row->level = 2;
    for (int i = 0; i < v->n_ranges; i++)
        row->children += v->ranges[i].phase == phase && v->ranges[i].level == 0;
}

static void add_range(Rows *rows, const ProfileView *v, const ViewRange *range, bool projection)
{
    Row *row = add(rows, projection && v->gpu ? &range->span : &range->host, NULL);
    if (!row) return;
    snprintf(row->name, sizeof row->name, ":%s %s", profile_cells_phase(range->phase), range->name);
    row->range = range->host;
    row->ops = (double)range->kernels;
    row->level = range->level + 3;
    row->children = children_of(v, range);
}

static void add_ranges(Rows *rows, const ProfileView *v, bool projection)
{
    const ViewStats loop = {1, v->loop, v->loop, v->loop, v->loop, v->loop, 0};
    if (!projection) add(rows, &loop, ":measure_loop");
    if (!projection) add(rows, &v->step, ":step");
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) add_phase(rows, v, (Phase)p, projection);
    for (int i = 0; i < v->n_ranges; i++) add_range(rows, v, &v->ranges[i], projection);
}

/* Waits that never happened have no row. */
static void add_os(Rows *rows, const ProfileView *v)
{
    if (v->os.blocked.total > 0) add(rows, &v->os.blocked, "[blocked]");
    if (v->os.waiting.total > 0) add(rows, &v->os.waiting, "[ready, no processor]");
}

static void fill(Rows *rows, NsysReport report, const ProfileView *v)
{
    switch (report) {
    case NSYS_KERNELS:
        add_names(rows, v->names, v->n_names, true, false);
        break;
    case NSYS_KERNELS_BASE:
        add_names(rows, v->briefs, v->n_briefs, true, false);
        break;
    case NSYS_CALLS:
        add_names(rows, v->calls, v->n_calls, true, false);
        break;
    case NSYS_MEMORY_TIME:
    case NSYS_MEMORY_SIZE:
        add_names(rows, v->names, v->n_names, false, report == NSYS_MEMORY_SIZE);
        break;
    case NSYS_RANGES:
    case NSYS_PROJECTION:
        add_ranges(rows, v, report == NSYS_PROJECTION);
        break;
    case NSYS_OS:
        add_os(rows, v);
        break;
    case NSYS_TRACE:
    case NSYS_COUNT:
        break;
    }
}

Status nsys_csv_sum(Text *out, NsysReport report, const ProfileView *v)
{
    const size_t most =
        (size_t)(v->n_names + v->n_briefs + v->n_calls + v->n_ranges + PHASE_COUNT) + 4;
    CLEANUP(array_free) Row *list = calloc(most, sizeof *list);
    Rows rows = {.rows = list};
    double all = 0;
    if (!list) return NO_MEMORY("for %s", reports[report].name);
    fill(&rows, report, v);
    qsort(rows.rows, (size_t)rows.n, sizeof *rows.rows, by_total);
    for (int i = 0; i < rows.n; i++) all += rows.rows[i].t.total;
    text_printf(out, "%s\n", reports[report].header);
    for (int i = 0; i < rows.n; i++) put_row(out, report, &rows.rows[i], all);
    return text_status(out);
}

/* ---- the trace ---- */

static void put_gpu_fields(Text *out, const TraceEvent *e)
{
    const TraceGpu *g = &e->gpu;
    const double seconds = (double)(e->end - e->begin) * 1e-9, mb = (double)g->bytes * 1e-6;
    if (e->kind == TRACE_KERNEL) {
        text_printf(out, "%d,%d,%d,%d,%d,%d,%d,%.3f,%.3f,,,,,", g->grid[0], g->grid[1], g->grid[2],
                    g->block[0], g->block[1], g->block[2], g->registers,
                    (double)g->static_shared * 1e-6, (double)g->dynamic_shared * 1e-6);
        return;
    }
    text_printf(out, ",,,,,,,,,%.3f,%.3f,", mb, seconds > 0 ? mb / seconds : 0);
    const char to = g->copy ? g->copy[strlen(g->copy) - 1] : 'D', from = g->copy ? g->copy[0] : 0;
    text_printf(out, "%s,%s,",
                !from         ? ""
                : from == 'H' ? "Pageable"
                              : "Device",
                to == 'H' ? "Pageable" : "Device");
}

/* A node on a CPU has no grid and no registers: empty fields. */
static void put_trace_row(Text *out, const Profiler *p, const TraceEvent *e)
{
    text_printf(out, "%lld,%lld,", (long long)(e->begin - p->loop_begin),
                (long long)(e->end - e->begin));
    if (e->kind == TRACE_NODE) {
        text_puts(out, ",,,,,,,,,,,,,,cpu,,,");
        csv_writer_field(out, p->rows.rows[p->rows.row[e->node]].kernel);
    } else {
        text_printf(out, "%u,", e->correlation);
        put_gpu_fields(out, e);
        text_printf(out, "%d,%d,%d,", e->gpu.device, e->gpu.context, e->gpu.stream);
        csv_writer_field(out, e->name);
    }
    text_puts(out, "\n");
}

Status nsys_csv_trace(Text *out, const Profiler *p)
{
    text_printf(out, "%s\n", reports[NSYS_TRACE].header);
    for (size_t i = 0; i < p->log.n; i++) {
        const TraceKind kind = p->log.events[i].kind;
        const bool gpu = kind == TRACE_KERNEL || kind == TRACE_MEMCPY || kind == TRACE_MEMSET;
        if (p->device ? gpu : kind == TRACE_NODE) put_trace_row(out, p, &p->log.events[i]);
    }
    return text_status(out);
}
