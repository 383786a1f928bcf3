#include "report/profile/profile_comm_tables.h"

#include "base/array.h"
#include "base/human.h"
#include "base/stats.h"
#include "report/records/column.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char how_counted[] =
    "time: from this rank's begin to its end, other ranks that come late included; busbw as "
    "nccl-tests define it; overlap: the part of the time in which other ops ran";

/* ---- collectives ---- */

typedef struct Sum {
    double bytes, wire, time, hidden, waited; /* of one step */
    int n;
} Sum;

static void add(Sum *sum, const ProfileView *v, const ViewCollective *c)
{
    const double steps = (double)v->steps, runs = (double)c->time.n / steps;
    sum->bytes += runs * (double)c->bytes;
    sum->wire += runs * c->wire;
    sum->time += c->time.total / steps;
    sum->hidden += c->hidden / steps;
    sum->waited += c->waited / steps;
    sum->n += c->time.n > 0;
}

/* Bytes per ns are GB/s. */
static void figures(Table *table, const Sum *of, double time)
{
    TABLE_CELLS(table, human_whole(round(of->bytes)).s, human_us(time).s,
                human_number(time > 0 ? of->wire / time : NAN, 3).s,
                human_percent(of->hidden, of->time).s, human_us(of->waited).s);
}

static void collective_row(Table *table, const ProfileView *v, const ViewCollective *c)
{
    Sum one = {0};
    add(&one, v, c);
    table_cell_printf(table, "%s %s", c->op, c->name);
    const double runs = fmax((double)c->time.n / (double)v->steps, 1e-9);
    const Sum each = {.bytes = one.bytes / runs,
                      .wire = one.wire / runs,
                      .time = one.time,
                      .hidden = one.hidden,
                      .waited = one.waited};
    figures(table, &each, profile_view_middle(v, &c->time));
    table_cell(table, c->waited_by ? c->waited_by : c->beside ? "-" : "all that follows");
}

static int by_time(const void *a, const void *b)
{
    const ViewCollective *x = *(const ViewCollective *const *)a;
    const ViewCollective *y = *(const ViewCollective *const *)b;
    return (x->time.total < y->time.total) - (x->time.total > y->time.total);
}

static int by_place(const void *a, const void *b)
{
    const ViewCollective *x = *(const ViewCollective *const *)a;
    const ViewCollective *y = *(const ViewCollective *const *)b;
    return (x > y) - (x < y);
}

/* The longest `most` of them, in the order in which they run; returns how many. */
static int choose(const ProfileView *v, const ViewCollective **list, int64_t most)
{
    int n = 0;
    for (int i = 0; i < v->n_collectives; i++) {
        if (v->collectives[i].time.n > 0) list[n++] = &v->collectives[i];
    }
    qsort(list, (size_t)n, sizeof *list, by_time);
    if (n > most) n = (int)most;
    qsort(list, (size_t)n, sizeof *list, by_place);
    return n;
}

static void collectives(Table *table, const ProfileTables *how, const ProfileView *v)
{
    CLEANUP(array_free)
    const ViewCollective **list = malloc(((size_t)v->n_collectives + 1) * sizeof *list);
    Sum all = {0};
    table->failed = table->failed || !list;
    if (!list) return;
    table->title = "Every collective, and what waited for it";
    TABLE_COLUMNS(table, 1, "collective", "bytes", "time (us)", "busbw (GB/s)", "overlap (%)",
                  "waited (us)");
    table_column(table, "longest wait by", "", false);
    const int n = choose(v, list, how->top);
    for (int i = 0; i < n; i++) collective_row(table, v, list[i]);
    for (int i = 0; i < v->n_collectives; i++) add(&all, v, &v->collectives[i]);
    if (n < all.n)
        table_cell_printf(table, "all %d, a step", all.n);
    else
        table_cell(table, "all, a step");
    figures(table, &all, all.time);
    table_cell(table, NULL);
    table_note(table, how_counted);
    const char *path =
        json_string_value(json_object_get(json_object_get(v->record, "profile"), "path"));
    table_note_printf(table, "of rank 0 of %d; %s; time: %s, of all a step: means", v->n_ranks,
                      path ? path : "", profile_cells_stat(v->record));
}

/* ---- ranks ---- */

static void rank_cells(Table *table, const ViewRank *r)
{
    TABLE_CELLS(table, human_ms(r->step).s, human_ms(r->communication).s,
                human_percent(r->hidden, r->communication).s, human_ms(r->waited).s);
}

/* Minimum, median and maximum of their steps, and who is slowest. */
static void ranks_note(Table *table, const ProfileView *v, double *steps)
{
    int slowest = 0;
    for (int r = 0; r < v->n_ranks; r++) {
        steps[r] = v->ranks[r].step;
        if (steps[r] > steps[slowest]) slowest = r;
    }
    const double longest = steps[slowest];
    stats_sort(steps, v->n_ranks);
    table_note_printf(table, "step of the ranks: min %s, median %s, max %s ms; slowest: rank %d",
                      human_ms(steps[0]).s, human_ms(stats_median(steps, v->n_ranks)).s,
                      human_ms(longest).s, slowest);
}

static void ranks(Table *table, const ProfileTables *how, const ProfileView *v)
{
    CLEANUP(array_free) double *steps = malloc(((size_t)v->n_ranks + 1) * sizeof *steps);
    table->failed = table->failed || !steps;
    if (!steps) return;
    table->title = "Compute and communication of every rank";
    TABLE_COLUMNS(table, 1, "rank", "profiled step (ms)", "communication a step (ms)",
                  "overlap (%)", "waited a step (ms)");
    const int most = (int)fmax(2.0 * (double)how->top, 4);
    for (int r = 0; r < v->n_ranks && r < most; r++) {
        table_cell_printf(table, "%d", r);
        rank_cells(table, &v->ranks[r]);
    }
    ranks_note(table, v, steps);
    if (v->n_ranks > most)
        table_note_printf(table, "the first %d of %d ranks; --top shows more", most, v->n_ranks);
}

Status profile_comm_tables_write(Text *out, const ProfileTables *how, const ProfileView *view)
{
    Table table = {0};
    if (view->n_ranks == 0) return ST_OK;
    if (view->n_collectives > 0) {
        collectives(&table, how, view);
        TRY(table_write_next(out, how->format, &table));
    }
    ranks(&table, how, view);
    return table_write_next(out, how->format, &table);
}

/* ---- several profiles ---- */

static void put_labels(Table *table, const ColumnSet *labels, const Record *record)
{
    char text[COLUMN_TEXT];
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        if (!labels->has[c]) continue;
        if (record)
            table_cell(table, column_text(column, record, text) ? text : NULL);
        else
            table_column(table, column->label, column->unit, column->kind != COLUMN_WORD);
    }
}

static Status many_row(Table *table, const ColumnSet *labels, const Record *record)
{
    CLEANUP(profile_view_free) ProfileView view = {0};
    double longest = 0, shortest = INFINITY;
    if (profile_cells_failed(record)) return ST_OK;
    TRY(profile_view_make(&view, record));
    if (view.n_ranks == 0) return ST_OK;
    for (int r = 0; r < view.n_ranks; r++) {
        longest = fmax(longest, view.ranks[r].step);
        shortest = fmin(shortest, view.ranks[r].step);
    }
    put_labels(table, labels, record);
    rank_cells(table, &view.ranks[0]);
    TABLE_CELLS(table, human_ms(shortest).s, human_ms(longest).s);
    return ST_OK;
}

Status profile_comm_tables_many(Text *out, const ProfileTables *how, const RecordSet *set)
{
    CLEANUP(table_free) Table table = {0};
    const ColumnSet labels = column_distinct(set);
    table.title = "Communication of every cell";
    put_labels(&table, &labels, NULL);
    TABLE_COLUMNS(&table, 0, "rank 0: profiled step (ms)", "communication a step (ms)",
                  "overlap (%)", "waited a step (ms)", "fastest rank (ms)", "slowest rank (ms)");
    for (size_t i = 0; i < record_set_size(set); i++)
        TRY(many_row(&table, &labels, record_set_at(set, i)));
    if (table_rows(&table) == 0) return ST_OK;
    table_note(&table, how_counted);
    return table_write_next(out, how->format, &table);
}
