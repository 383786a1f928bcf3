#include "report/profile/profile_kernel_tables.h"

#include "base/human.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int phase_of(const ProfileView *v, const ViewName *kernel)
{
    return kernel->row < 0 ? PHASE_COUNT : (int)v->ops[kernel->row].phase;
}

static void source_cell(Table *table, const ViewOp *op)
{
    if (op)
        table_cell_printf(table, "%s:%d", op->source, op->line);
    else
        table_cell(table, "-");
}

/* ---- kernels ---- */

static int by_total(const void *a, const void *b)
{
    const ViewName *x = *(const ViewName *const *)a, *y = *(const ViewName *const *)b;
    if (x->time.total != y->time.total) return x->time.total < y->time.total ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Those of a phase (PHASE_COUNT: all), most time first; the caller frees. */
static const ViewName **sorted(const ProfileView *v, int phase, int *n)
{
    const ViewName **list = malloc(((size_t)v->n_kernels + 1) * sizeof *list);
    *n = 0;
    for (int i = 0; list && i < v->n_kernels; i++) {
        const ViewName *kernel = &v->kernels[i];
        if (kernel->time.n > 0 && (phase == PHASE_COUNT || phase_of(v, kernel) == phase))
            list[(*n)++] = kernel;
    }
    if (list) qsort(list, (size_t)*n, sizeof *list, by_total);
    return list;
}

static bool counts(const ProfileView *v, const ViewName *kernel, int phase)
{
    if (kernel->time.n == 0) return false;
    if (phase == PHASE_COUNT) return true;
    return kernel->in ? (int)profile_view_phase(kernel->in) == phase : phase_of(v, kernel) == phase;
}

/* By name; a file of an older version has names by op alone. */
const ViewName *profile_kernel_tables_top(const ProfileView *view, int phase)
{
    const bool by_op = view->n_phase_kernels == 0, step = phase == PHASE_COUNT;
    const ViewName *list = by_op ? view->kernels : step ? view->names : view->phase_kernels;
    const int n = by_op ? view->n_kernels : step ? view->n_names : view->n_phase_kernels;
    const ViewName *top = NULL;
    for (int i = 0; i < n; i++) {
        if (!counts(view, &list[i], phase)) continue;
        if (!top || list[i].time.total > top->time.total) top = &list[i];
    }
    return top;
}

static void kernel_row(Table *table, const ProfileTables *how, const ProfileView *v, int phase,
                       const ViewName *kernel, double all)
{
    const ViewOp *op = kernel->row < 0 ? NULL : &v->ops[kernel->row];
    const ViewTally *t = &kernel->time;
    const double us[] = {t->avg, t->med, t->min, t->max, t->std};
    table_cell(table, phase == PHASE_COUNT ? "step" : profile_tables_phase((Phase)phase));
    table_cell(table, kernel->brief);
    if (op)
        table_cell_printf(table, "%s%s%s %s",
                          phase == PHASE_COUNT ? plan_phase_name(op->phase) : "",
                          phase == PHASE_COUNT ? " " : "", op->scope, op->op);
    else
        table_cell(table, "not attributed");
    table_cell(table, plan_category_name(op ? op->category : CATEGORY_COUNT));
    table_cell(table, human_mean_count((double)t->n / (double)v->steps).s);
    profile_tables_ms(table, t->total);
    for (size_t i = 0; i < sizeof us / sizeof *us; i++)
        table_cell(table, human_number(us[i] * 1e-3, 4).s);
    profile_tables_percent(table, t->total, all);
    if (how->source) source_cell(table, op);
}

/* The others together, so that the list adds up. */
static void rest_row(Table *table, const ProfileTables *how, const ProfileView *v, int phase,
                     const ViewName *const *list, int n, double all)
{
    double total = 0, calls = 0;
    for (int i = 0; i < n; i++) {
        total += list[i]->time.total;
        calls += (double)list[i]->time.n;
    }
    if (n == 0) return;
    table_cell(table, phase == PHASE_COUNT ? "step" : profile_tables_phase((Phase)phase));
    table_cell_printf(table, n == 1 ? "%d other" : "%d others", n);
    for (int i = 0; i < 2; i++) table_cell(table, "-");
    table_cell(table, human_mean_count(calls / (double)v->steps).s);
    profile_tables_ms(table, total);
    for (int i = 0; i < 5; i++) table_cell(table, "-");
    profile_tables_percent(table, total, all);
    if (how->source) table_cell(table, "-");
}

static Status kernels_of(Table *table, const ProfileTables *how, const ProfileView *v, int phase)
{
    int n = 0;
    double all = 0;
    const ViewName **list = sorted(v, phase, &n);
    if (!list) return NO_MEMORY("for a list of kernels");
    for (int i = 0; i < n; i++) all += list[i]->time.total;
    const int shown = n < how->top ? n : (int)how->top;
    for (int i = 0; i < shown; i++) kernel_row(table, how, v, phase, list[i], all);
    rest_row(table, how, v, phase, list + shown, n - shown, all);
    free(list);
    return ST_OK;
}

static Status kernels(Table *table, const ProfileTables *how, const ProfileView *v)
{
    if (!v->gpu && v->n_phase_kernels > 0) return ST_OK; /* their names say which op they are of */
    PROFILE_COLUMNS(table, 4, "in", v->gpu ? "kernel, by op" : "op (implementation)", "of",
                    "category", "calls a step", "total (ms)", "avg (us)", "med (us)", "min (us)",
                    "max (us)", "std (us)", "share (%)");
    TABLE_SPARE(table, "med (us)", "std (us)", "max (us)", "min (us)", "category", "avg (us)",
                "calls a step");
    if (how->source) table_column(table, "source", "", false);
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        if (v->phases[p].there) TRY(kernels_of(table, how, v, p));
    }
    TRY(kernels_of(table, how, v, PHASE_COUNT));
    table_note(table,
               v->gpu
                   ? "total of all profiled steps; shares of the kernels' time"
                   : "on a CPU an op's implementation stands for a kernel; total of all profiled "
                     "steps",
               NULL);
    return ST_OK;
}

/* ---- calls of CUDA ---- */

static void call_row(Table *table, const ProfileTables *how, const ProfileView *v,
                     const ViewName *call, double all)
{
    const ViewOp *op = call->row < 0 ? NULL : &v->ops[call->row];
    table_cell(table, call->name);
    if (op)
        table_cell_printf(table, "%s %s %s", plan_phase_name(op->phase), op->scope, op->op);
    else
        table_cell(table, "no op");
    table_cell(table, human_mean_count((double)call->time.n / (double)v->steps).s);
    profile_tables_ms(table, call->time.total);
    table_cell(table, human_number(call->time.avg * 1e-3, 4).s);
    profile_tables_percent(table, call->time.total, all);
    if (how->source) source_cell(table, op);
}

/* Which op they are made for; a file of an older version does not say. */
static Status calls(Table *table, const ProfileTables *how, const ProfileView *v)
{
    double all = 0;
    const ViewName **list = malloc(((size_t)v->n_op_calls + 1) * sizeof *list);
    if (!list) return NO_MEMORY("for a list of calls");
    for (int i = 0; i < v->n_op_calls; i++) {
        list[i] = &v->op_calls[i];
        all += list[i]->time.total;
    }
    qsort(list, (size_t)v->n_op_calls, sizeof *list, by_total);
    PROFILE_COLUMNS(table, 2, "CUDA call", "for", "calls a step", "total (ms)", "avg (us)",
                    "share (%)");
    if (how->source) table_column(table, "source", "", false);
    for (int i = 0; i < v->n_op_calls && i < how->top; i++) call_row(table, how, v, list[i], all);
    free(list);
    table_note_printf(table, "those that take most, of %d; total of all profiled steps",
                      v->n_op_calls);
    return ST_OK;
}

/* ---- ops against the limits ---- */

static int by_time(const void *a, const void *b)
{
    const ViewOp *x = *(const ViewOp *const *)a, *y = *(const ViewOp *const *)b;
    return (x->time.total < y->time.total) - (x->time.total > y->time.total);
}

static void roof_cells(Table *table, const ProfileView *v, const ViewOp *op, double seconds)
{
    const double compute = plan_category_multiplies(op->category) ? op->flops / v->limit_flops : 0;
    const double memory = op->bytes / v->limit_bandwidth;
    if (isnan(compute) || isnan(memory)) {
        table_cell(table, "-");
        table_cell(table, "-");
        return;
    }
    table_cell_printf(table, "%.1f", 100 * fmax(compute, memory) / seconds);
    table_cell(table, compute > memory ? "compute" : "memory");
}

static void op_row(Table *table, const ProfileTables *how, const ProfileView *v, const ViewOp *op)
{
    const double seconds = op->time.total * 1e-9 / (double)v->steps;
    table_cell(table, profile_tables_phase(op->phase));
    table_cell_printf(table, "%s %s", op->scope, op->op);
    table_cell(table, op->by);
    table_cell(table, human_count(op->nodes).s);
    table_cell(table, op->flops > 0 ? human_si(op->flops).s : "-");
    table_cell(table, human_bytes(op->bytes).s);
    table_cell(table, human_number(seconds * 1e3, 4).s);
    table_cell(table, op->flops > 0 ? human_number(op->flops / seconds * 1e-12, 4).s : "-");
    table_cell(table, human_number(op->bytes / seconds * 1e-9, 4).s);
    roof_cells(table, v, op, seconds);
    if (!how->source) return;
    table_cell(table, isnan(op->allocated) ? "-" : human_bytes(op->allocated).s);
    source_cell(table, op);
}

static Status ops(Table *table, const ProfileTables *how, const ProfileView *v)
{
    const ViewOp **list = malloc(((size_t)v->n_ops + 1) * sizeof *list);
    int n = 0;
    if (!list) return NO_MEMORY("for a list of ops");
    PROFILE_COLUMNS(table, 3, "in", "op", "as", "nodes", "FLOPs a step", "bytes a step",
                    "ms a step", "TFLOP/s", "GB/s", "of limit (%)");
    PROFILE_COLUMNS(table, 1, "bound by");
    TABLE_SPARE(table, "FLOPs a step", "bytes a step", "nodes", "as");
    if (how->source) {
        table_column(table, "allocates a step", "", true);
        table_column(table, "source", "", false);
    }
    for (int i = 0; i < v->n_ops; i++) {
        if (v->ops[i].time.n > 0) list[n++] = &v->ops[i];
    }
    qsort(list, (size_t)n, sizeof *list, by_time);
    for (int i = 0; i < n && i < 2 * how->top; i++) op_row(table, how, v, list[i]);
    free(list);
    if (isnan(v->limit_flops)) {
        table_note(table, "for the share of this machine's limit run 'roofstep limits' once", NULL);
    } else {
        table_note(
            table,
            "% of limit = shortest possible time at the measured rates / actual time; what stays "
            "in a cache can be above 100 %",
            NULL);
    }
    return ST_OK;
}

Status profile_kernel_tables_write(Text *out, const ProfileTables *how, const ProfileView *view)
{
    Table table = {0};
    Status status = kernels(&table, how, view);
    if (status == ST_OK) status = profile_tables_put(out, how, &table);
    if (status == ST_OK) status = calls(&table, how, view);
    if (status == ST_OK) status = profile_tables_put(out, how, &table);
    if (status == ST_OK) status = ops(&table, how, view);
    if (status == ST_OK) status = profile_tables_put(out, how, &table);
    table_free(&table);
    return status;
}
