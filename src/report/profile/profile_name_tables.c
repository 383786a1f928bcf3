#include "report/profile/profile_name_tables.h"

#include "base/human.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 100 }; /* bytes of a template's name; the JSON has all of it */

/* ---- names ---- */

static bool is_shared(const ProfileView *v, const ViewName *name)
{
    for (int i = 0; i < v->n_names; i++) {
        const ViewName *other = &v->names[i];
        if (strcmp(other->brief, name->brief) == 0 && strcmp(other->name, name->name) != 0)
            return true;
    }
    return false;
}

/* The short name; where another kernel has the same one, the full name from there on. */
static void name_cell(Table *table, const NameTable *as, const ViewName *name)
{
    const char *from = strstr(name->name, name->brief);
    if (as->briefly && !is_shared(as->view, name)) {
        table_cell(table, name->brief);
        return;
    }
    if (!as->briefly || !from) from = name->name;
    table_cell_printf(table, "%.*s%s", MOST_NAME, from, strlen(from) > MOST_NAME ? "..." : "");
}

/* ---- where they are from ---- */

/* The rows of ops behind a name: how many, and one of them. */
typedef struct Origin {
    const ViewOp *op; /* NULL: none */
    int n;
    bool mixed; /* of several categories */
} Origin;

static void add_op(Origin *origin, const ViewOp *op)
{
    if (origin->op && origin->op->category != op->category) origin->mixed = true;
    if (!origin->op) origin->op = op;
    origin->n++;
}

static Origin origin_of(const ProfileView *v, const ViewName *name)
{
    const Phase phase = name->in ? profile_view_phase(name->in) : PHASE_COUNT;
    Origin origin = {0};
    if (name->row >= 0) return (Origin){.op = &v->ops[name->row], .n = 1};
    for (int i = 0; i < v->n_kernels; i++) {
        const ViewName *k = &v->kernels[i];
        if (k->row < 0 || strcmp(k->name, name->name) != 0) continue;
        if (phase == PHASE_COUNT || v->ops[k->row].phase == phase) add_op(&origin, &v->ops[k->row]);
    }
    return origin;
}

/* `name` is "matmul (own neon)". */
static Origin origin_of_op(const ProfileView *v, const ViewName *name)
{
    const Phase phase = profile_view_phase(name->in);
    Origin origin = {0};
    for (int i = 0; i < v->n_ops; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s (%s)", v->ops[i].op, v->ops[i].by);
        if (strcmp(text, name->name) == 0 && (phase == PHASE_COUNT || v->ops[i].phase == phase))
            add_op(&origin, &v->ops[i]);
    }
    return origin;
}

/* `phase`: the rows are of several phases, so the op is named with its own. */
static void origin_cells(Table *table, const Origin *origin, bool phase)
{
    const ViewOp *op = origin->op;
    if (!op)
        table_cell(table, "not attributed");
    else if (origin->n > 1)
        table_cell_printf(table, "%d ops", origin->n);
    else
        table_cell_printf(table, "%s%s%s %s", phase ? plan_phase_name(op->phase) : "",
                          phase ? " " : "", op->scope, op->op);
    table_cell(table,
               origin->mixed ? "several" : plan_category_name(op ? op->category : CATEGORY_COUNT));
}

static void source_cell(Table *table, const Origin *origin)
{
    if (origin->n == 1)
        table_cell_printf(table, "%s:%d", origin->op->source, origin->op->line);
    else
        table_cell(table, NULL);
}

/* ---- rows ---- */

static void sum_cells(Table *table, const NameTable *as, double calls, double total, double all)
{
    const double of = as->whole_run ? 1 : (double)as->view->steps;
    TABLE_CELLS(table, human_mean_count(calls / of).s, human_ms(total).s,
                human_percent(total, all).s);
}

static void name_row(Table *table, const NameTable *as, const char *label, const char *in,
                     const ViewName *name, double all)
{
    Origin origin = {0};
    if (as->of) origin = as->ops ? origin_of_op(as->view, name) : origin_of(as->view, name);
    if (as->grouping) table_cell(table, label);
    name_cell(table, as, name);
    if (as->of) origin_cells(table, &origin, !in);
    sum_cells(table, as, (double)name->time.n, name->time.total, all);
    profile_cells_spread(table, &name->time);
    if (as->more) table_cell(table, human_mean_count(name->ops).s);
    if (as->source) source_cell(table, &origin);
}

/* The others together, so that the list adds up. */
static void rest_row(Table *table, const NameTable *as, const char *label,
                     const ViewName *const *list, int n, double all)
{
    double total = 0, calls = 0;
    for (int i = 0; i < n; i++) {
        total += list[i]->time.total;
        calls += (double)list[i]->time.n;
    }
    if (as->grouping) table_cell(table, label);
    table_cell_printf(table, n == 1 ? "%d other" : "%d others", n);
    table_dashes(table, as->of ? 2 : 0);
    sum_cells(table, as, calls, total, all);
    table_dashes(table, 5 + (as->more ? 1 : 0) + (as->source ? 1 : 0));
}

static int by_total(const void *a, const void *b)
{
    const ViewName *x = *(const ViewName *const *)a, *y = *(const ViewName *const *)b;
    if (x->time.total != y->time.total) return x->time.total < y->time.total ? 1 : -1;
    return strcmp(x->name, y->name);
}

bool profile_name_tables_is_in(const ProfileView *v, const ViewName *name, const char *in)
{
    if (name->time.n == 0) return false;
    const char *own = name->in;
    if (!own && name->row >= 0) own = plan_phase_name(v->ops[name->row].phase);
    return !in || (own && strcmp(own, in) == 0);
}

void profile_name_tables_rows(Table *table, const NameTable *as, const char *label, const char *in,
                              const ViewName *names, int n)
{
    const ViewName **list = malloc(((size_t)n + 1) * sizeof *list);
    double all = 0;
    int taken = 0;
    table->failed = table->failed || !list;
    for (int i = 0; list && i < n; i++) {
        if (!profile_name_tables_is_in(as->view, &names[i], in)) continue;
        list[taken++] = &names[i];
        all += names[i].time.total;
    }
    if (list) qsort(list, (size_t)taken, sizeof *list, by_total);
    const int shown = taken < as->how->top ? taken : (int)as->how->top;
    for (int i = 0; i < shown; i++) name_row(table, as, label, in, list[i], all);
    if (taken > shown) rest_row(table, as, label, list + shown, taken - shown, all);
    free(list);
}

void profile_name_tables_columns(Table *table, const NameTable *as)
{
    table->title = as->title;
    if (as->grouping) table_column(table, as->grouping, "", false);
    table_column(table, as->heading, "", false);
    if (as->of) {
        table_column(table, as->of, "", false);
        table_column(table, "category", "", false);
    }
    table_column(table, as->whole_run ? "calls" : "calls a step", "", true);
    TABLE_COLUMNS(table, 0, "total (ms)", "share (%)", "avg (us)", "med (us)", "min (us)",
                  "max (us)", "std (us)");
    if (as->more) table_column(table, as->more, "", true);
    if (as->source) table_column(table, "source", "", false);
    TABLE_SPARE(table, "med (us)", "std (us)", "max (us)", "min (us)", "category", "avg (us)",
                "calls a step", "of");
}

/* ---- those of a profile of ours ---- */

static void phase_rows(Table *table, const NameTable *as, const ViewName *names, int n)
{
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        if (as->view->phases[p].there)
            profile_name_tables_rows(table, as, profile_cells_phase((Phase)p),
                                     plan_phase_name((Phase)p), names, n);
    }
}

/* A list of every phase, then of the step; without a grouping the latter alone. */
typedef struct NameList {
    const ViewName *phases, *all;
    int n_phases, n_all;
} NameList;

static Status put_list(Text *out, const NameTable *as, NameList list, const char *note)
{
    Table table = {0};
    profile_name_tables_columns(&table, as);
    if (as->grouping) phase_rows(&table, as, list.phases, list.n_phases);
    profile_name_tables_rows(&table, as, as->grouping ? "step" : NULL, as->ops ? "step" : NULL,
                             list.all, list.n_all);
    table_note(&table, note);
    return table_write_next(out, as->how->format, &table);
}

static Status kernels(Text *out, NameTable as)
{
    const ProfileView *v = as.view;
    if (v->n_phase_kernels == 0) return ST_OK;
    as.heading = v->gpu ? "kernel, by name" : "op (who computed it): where";
    as.of = v->gpu ? "of" : NULL;
    as.briefly = v->gpu;
    as.title = v->gpu ? "Where the time goes, by kernel" : "Where the time goes, by place";
    return put_list(out, &as,
                    (NameList){v->phase_kernels, v->names, v->n_phase_kernels, v->n_names},
                    v->gpu ? "total of all profiled steps; shares of the kernels' time in the phase"
                           : "on a CPU an op and who computed it stand for a kernel; total of all "
                             "profiled steps; shares of the ops' time in the phase");
}

static Status ops(Text *out, NameTable as)
{
    const ProfileView *v = as.view;
    if (v->n_phase_ops == 0) return ST_OK;
    as.heading = "op (who computed it)";
    as.of = "of";
    as.ops = true;
    as.title = "Where the time goes, by op";
    return put_list(out, &as,
                    (NameList){v->phase_ops, v->phase_ops, v->n_phase_ops, v->n_phase_ops},
                    v->gpu ? "by op: a call is one run of an op, its time that of all its kernels"
                           : "by op: a call is one run of an op, wherever in the model");
}

/* Each kernel once for every op that launches it. On a CPU the names above say which op they are of. */
static Status kernels_by_op(Text *out, NameTable as)
{
    const ProfileView *v = as.view;
    if (!v->gpu && v->n_phase_kernels > 0) return ST_OK;
    as.heading = v->gpu ? "kernel, by op" : "op (implementation)";
    as.of = "of";
    as.briefly = true;
    as.source = as.how->source;
    as.title = v->gpu ? "Which op launches each kernel" : "Which implementation runs each op";
    return put_list(
        out, &as, (NameList){v->kernels, v->kernels, v->n_kernels, v->n_kernels},
        v->gpu ? "total of all profiled steps; shares of the kernels' time"
               : "on a CPU an op's implementation stands for a kernel; total of all profiled "
                 "steps");
}

/* By the op they are made for; a file of an older version does not say. */
static Status calls(Text *out, NameTable as)
{
    as.grouping = NULL;
    as.heading = "CUDA call";
    as.of = "for";
    as.title = "CUDA calls of the host";
    as.source = as.how->source;
    const NameList list = {.all = as.view->op_calls, .n_all = as.view->n_op_calls};
    return put_list(out, &as, list, "total of all profiled steps");
}

Status profile_name_tables_write(Text *out, const ProfileTables *how, const ProfileView *view)
{
    const NameTable base = {.how = how, .view = view, .grouping = "in"};
    TRY(kernels(out, base));
    TRY(ops(out, base));
    TRY(kernels_by_op(out, base));
    return calls(out, base);
}

/* ---- copies and memsets ---- */

static bool is_memory(const ViewName *name)
{
    return strcmp(name->kind, "kernel") != 0;
}

static void memory_row(Table *table, const ViewName *name, double all)
{
    const ViewStats *t = &name->time, *bytes = &name->bytes;
    const double sizes[] = {bytes->total, bytes->avg, bytes->max}, total = t->n ? t->total : NAN;
    TABLE_CELLS(table, name->name, human_count(t->n ? t->n : bytes->n).s, human_ms(total).s,
                human_percent(total, all).s);
    profile_cells_spread(table, t);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) /* MB as nsys has them */
        table_cell(table, bytes->n ? human_number(sizes[i] * 1e-6, 4).s : NULL);
}

Status profile_name_tables_memory(Text *out, const ProfileTables *how, const ProfileView *v)
{
    Table table = {0};
    double all = 0;
    for (int i = 0; i < v->n_names; i++)
        all += is_memory(&v->names[i]) ? v->names[i].time.total : 0;
    table.title = "Copies and memsets";
    TABLE_COLUMNS(&table, 1, "memory operation", "count", "total (ms)", "share (%)", "avg (us)",
                  "med (us)", "min (us)", "max (us)", "std (us)", "total (MB)", "avg (MB)",
                  "max (MB)");
    TABLE_SPARE(&table, "med (us)", "std (us)", "max (us)", "min (us)", "max (MB)", "avg (us)",
                "avg (MB)");
    for (int i = 0; i < v->n_names; i++) {
        if (is_memory(&v->names[i])) memory_row(&table, &v->names[i], all);
    }
    table_note(&table, "copies and memsets of all that was profiled; 1 MB is 1,000,000 bytes");
    return table_write_next(out, how->format, &table);
}
