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

static void origin_cells(Table *table, const NameTable *as, const ViewName *name)
{
    const Origin origin = as->ops ? origin_of_op(as->view, name) : origin_of(as->view, name);
    if (!origin.op)
        table_cell(table, "not attributed");
    else if (origin.n > 1)
        table_cell_printf(table, "%d ops", origin.n);
    else
        table_cell_printf(table, "%s %s", origin.op->scope, origin.op->op);
    table_cell(table, origin.mixed
                          ? "several"
                          : plan_category_name(origin.op ? origin.op->category : CATEGORY_COUNT));
}

/* ---- rows ---- */

static void calls_cell(Table *table, const NameTable *as, double calls)
{
    const double of = as->whole_run ? 1 : (double)as->view->steps;
    table_cell(table, human_mean_count(calls / of).s);
}

static void name_row(Table *table, const NameTable *as, const char *label, const ViewName *name,
                     double all)
{
    const ViewTally *t = &name->time;
    const double us[] = {t->avg, t->med, t->min, t->max, t->std};
    if (as->grouping) table_cell(table, label);
    name_cell(table, as, name);
    if (as->of) origin_cells(table, as, name);
    calls_cell(table, as, (double)t->n);
    profile_tables_ms(table, t->total);
    profile_tables_percent(table, t->total, all);
    for (size_t i = 0; i < sizeof us / sizeof *us; i++)
        table_cell(table, human_number(us[i] * 1e-3, 4).s);
    if (as->more) table_cell(table, human_mean_count(name->ops).s);
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
    if (n == 0) return;
    if (as->grouping) table_cell(table, label);
    table_cell_printf(table, n == 1 ? "%d other" : "%d others", n);
    for (int i = 0; as->of && i < 2; i++) table_cell(table, "-");
    calls_cell(table, as, calls);
    profile_tables_ms(table, total);
    profile_tables_percent(table, total, all);
    for (int i = 0; i < (as->more ? 6 : 5); i++) table_cell(table, "-");
}

static int by_total(const void *a, const void *b)
{
    const ViewName *x = *(const ViewName *const *)a, *y = *(const ViewName *const *)b;
    if (x->time.total != y->time.total) return x->time.total < y->time.total ? 1 : -1;
    return strcmp(x->name, y->name);
}

static bool is_in(const ViewName *name, const char *in)
{
    return !in || (name->in && strcmp(name->in, in) == 0);
}

Status profile_name_tables_rows(Table *table, const NameTable *as, const char *label,
                                const char *in, const ViewName *names, int n)
{
    const ViewName **list = malloc(((size_t)n + 1) * sizeof *list);
    double all = 0;
    int taken = 0;
    if (!list) return NO_MEMORY("for a list of %d names", n);
    for (int i = 0; i < n; i++) {
        if (names[i].time.n == 0 || !is_in(&names[i], in)) continue;
        list[taken++] = &names[i];
        all += names[i].time.total;
    }
    qsort(list, (size_t)taken, sizeof *list, by_total);
    const int shown = taken < as->how->top ? taken : (int)as->how->top;
    for (int i = 0; i < shown; i++) name_row(table, as, label, list[i], all);
    rest_row(table, as, label, list + shown, taken - shown, all);
    free(list);
    return ST_OK;
}

void profile_name_tables_columns(Table *table, const NameTable *as)
{
    if (as->grouping) table_column(table, as->grouping, "", false);
    table_column(table, as->heading, "", false);
    if (as->of) {
        table_column(table, as->of, "", false);
        table_column(table, "category", "", false);
    }
    table_column(table, as->whole_run ? "calls" : "calls a step", "", true);
    PROFILE_COLUMNS(table, 0, "total (ms)", "share (%)", "avg (us)", "med (us)", "min (us)",
                    "max (us)", "std (us)");
    if (as->more) table_column(table, as->more, "", true);
    TABLE_SPARE(table, "med (us)", "std (us)", "max (us)", "min (us)", "category", "avg (us)",
                "calls a step");
}

/* ---- those of a profile of ours ---- */

static Status phase_rows(Table *table, const NameTable *as, const ViewName *names, int n)
{
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        if (as->view->phases[p].there)
            TRY(profile_name_tables_rows(table, as, profile_tables_phase((Phase)p),
                                         plan_phase_name((Phase)p), names, n));
    }
    return ST_OK;
}

static Status kernels(Table *table, const ProfileTables *how, const ProfileView *v)
{
    const NameTable as = {.how = how,
                          .view = v,
                          .grouping = "in",
                          .heading = v->gpu ? "kernel, by name" : "op (who computed it): where",
                          .of = v->gpu ? "of" : NULL,
                          .briefly = v->gpu};
    profile_name_tables_columns(table, &as);
    TRY(phase_rows(table, &as, v->phase_kernels, v->n_phase_kernels));
    TRY(profile_name_tables_rows(table, &as, "step", NULL, v->names, v->n_names));
    table_note(table,
               v->gpu ? "total of all profiled steps; shares of the kernels' time in the phase"
                      : "on a CPU an op and who computed it stand for a kernel; total of all "
                        "profiled steps; shares of the ops' time in the phase",
               NULL);
    return ST_OK;
}

static Status ops(Table *table, const ProfileTables *how, const ProfileView *v)
{
    const NameTable as = {.how = how,
                          .view = v,
                          .grouping = "in",
                          .heading = "op (who computed it)",
                          .of = "of",
                          .ops = true};
    profile_name_tables_columns(table, &as);
    TRY(phase_rows(table, &as, v->phase_ops, v->n_phase_ops));
    TRY(profile_name_tables_rows(table, &as, "step", "step", v->phase_ops, v->n_phase_ops));
    table_note(table,
               v->gpu ? "by op: a call is one run of an op, its time that of all its kernels"
                      : "by op: a call is one run of an op, wherever in the model",
               NULL);
    return ST_OK;
}

Status profile_name_tables_write(Text *out, const ProfileTables *how, const ProfileView *view)
{
    Table table = {0};
    Status status = ST_OK;
    if (view->n_phase_kernels > 0) status = kernels(&table, how, view);
    if (status == ST_OK) status = profile_tables_put(out, how, &table);
    if (status == ST_OK && view->n_phase_ops > 0) status = ops(&table, how, view);
    if (status == ST_OK) status = profile_tables_put(out, how, &table);
    table_free(&table);
    return status;
}
