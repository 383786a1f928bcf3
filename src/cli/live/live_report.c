#include "cli/live/live_report.h"

#include "base/human.h"
#include "base/stats.h"
#include "bench/record/key_difference.h"
#include "cli/live/live_conditions.h"
#include "cli/live/live_json.h"
#include "cli/live/live_judge.h"
#include "report/format/flat_row.h"
#include "report/format/table_write.h"
#include "report/records/record_notes.h"
#include "report/study/comparison_worst.h"

#include <math.h>
#include <string.h>

/* ---- what differs ---- */

static void put_value(Table *table, const json_t *value)
{
    Text text = {0};
    if (json_is_null(value)) text_puts(&text, "-");
    flat_row_put(&text, value);
    table_cell_text(table, &text);
}

static void put_options(Table *table, const Live *live)
{
    Text differ = {0};
    const char *of_old = record_key(record_set_at(&live->sides[LIVE_OLD].rows, 0));
    const char *of_new = record_key(record_set_at(&live->sides[LIVE_NEW].rows, 0));
    if (of_old && of_new && strcmp(of_old, of_new) != 0) {
        text_puts(&differ, "the commands differ in ");
        key_difference_put(&differ, of_old, of_new);
    }
    table_note_text(table, &differ);
}

static Status fill_differences(Table *table, const Live *live)
{
    CLEANUP(comparison_free) Comparison c = {0};
    TRY(comparison_make(&c, &live->sides[LIVE_OLD].rows, &live->sides[LIVE_NEW].rows));
    table->title = "What differs";
    TABLE_COLUMNS(table, 3, "differs", "OLD", "NEW");
    table_cell(table, "command");
    for (int side = 0; side < LIVE_SIDES; side++) table_cell(table, live->sides[side].command);
    for (size_t i = 0; i < json_array_size(c.differences); i++) {
        const json_t *item = json_array_get(c.differences, i);
        table_cell(table, json_string_value(json_object_get(item, "field")));
        put_value(table, json_object_get(item, "a"));
        put_value(table, json_object_get(item, "b"));
    }
    if (c.n_cells > 0 && json_array_size(c.differences) == 0)
        table_note(table, "build, libraries and threads are the same");
    put_options(table, live);
    return ST_OK;
}

/* ---- what the machine was like ---- */

static void fill_conditions(Table *table, const Live *live)
{
    table->title = "What the machine was like";
    TABLE_COLUMNS(table, 1, "beside it (medians of the starts)", "OLD", "NEW");
    table_cell(table, "starts");
    for (int side = 0; side < LIVE_SIDES; side++)
        table_cell_printf(table, "%d", live->sides[side].starts);
    for (int k = 0; k < LIVE_CONDITIONS; k++) {
        const double before = live_conditions_median(&live->sides[LIVE_OLD], (LiveCondition)k);
        const double after = live_conditions_median(&live->sides[LIVE_NEW], (LiveCondition)k);
        if (isnan(before) && isnan(after)) continue;
        table_cell(table, live_conditions_label((LiveCondition)k));
        table_cell(table, human_number(before, 4).s);
        table_cell(table, human_number(after, 4).s);
    }
}

/* ---- the verdicts ---- */

static void put_label(Text *out, const Live *live, size_t cell)
{
    ColumnSet shown = column_distinct(&live->sides[LIVE_OLD].rows);
    column_leave_out(&shown, "environment_id");
    record_notes_label(out, &shown, record_set_at(&live->sides[LIVE_OLD].rows, cell));
}

static void put_row(Table *table, const Live *live, size_t cell, int phase)
{
    const LivePhase *p = &live->cells[cell].phases[phase];
    Text label = {0};
    put_label(&label, live, cell);
    table_cell_text(table, &label);
    table_cell(table, comparison_phases[phase]);
    table_cell_printf(table, "%d", live->pairs);
    for (int side = 0; side < LIVE_SIDES; side++)
        table_cell(table, human_number(stats_median(p->ms[side], live->pairs), 4).s);
    table_cell_number(table, "%+.1f", 100 * p->change);
    if (isinf(p->interval.low) || isinf(p->interval.high))
        table_cell(table, "-");
    else
        table_cell_printf(table, "%+.1f .. %+.1f", 100 * p->low, 100 * p->high);
    table_cell(table, comparison_verdict_word(p->verdict));
}

static void note_op(Table *table, const Live *live)
{
    size_t cell;
    int phase;
    Text op = {0};
    if (!live_judge_worst(live, &cell, &phase)) return;
    const bool slower = live->cells[cell].phases[phase].verdict == COMPARISON_SLOWER;
    text_printf(&op, "the op that became %s by most: ", slower ? "slower" : "faster");
    if (live->profile[LIVE_OLD] && live->profile[LIVE_NEW] &&
        comparison_worst_put_op(&op, live->profile[LIVE_OLD], live->profile[LIVE_NEW],
                                slower ? 1 : -1)) {
        table_note_text(table, &op);
        return;
    }
    text_free(&op);
    table_note_printf(table, "no profiles to name the op%s%s", live->no_profile[0] ? ": " : "",
                      live->no_profile);
}

static void note_rule(Table *table, const Live *live)
{
    const LiveTask *task = &live->task;
    table_note_printf(
        table,
        "a pair is a start of OLD and one of NEW in random order, of each its %s step; "
        "OLD and NEW: medians of the starts; change: Hodges-Lehmann of the pairs' ratios",
        config_stats[task->stat]);
    table_note_printf(
        table,
        "interval: holds the change in 95 %% of comparisons, all rows and all looks "
        "together; verdict: faster or slower if 0 is excluded at 99 %% and the change is at least "
        "1 %%, same if it is within %g %%, otherwise unsure: use a longer --budget",
        100 * task->margin);
}

static void fill_verdicts(Table *table, const Live *live)
{
    table->title = "What changed";
    TABLE_COLUMNS(table, 2, "cell", "phase", "pairs", "OLD (ms)", "NEW (ms)", "change (%)",
                  "95 % interval (%)");
    table_column(table, "verdict", "", false);
    for (size_t i = 0; i < live->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            if (live->cells[i].phases[k].there) put_row(table, live, i, k);
        }
    }
    record_notes_common(table, &live->sides[LIVE_OLD].rows);
    note_op(table, live);
    note_rule(table, live);
}

static Status write_tables(Text *out, const char *format, const Live *live)
{
    CLEANUP(table_free) Table table = {0};
    TRY(fill_differences(&table, live));
    TRY(table_write_next(out, format, &table));
    fill_conditions(&table, live);
    TRY(table_write_next(out, format, &table));
    fill_verdicts(&table, live);
    return table_write_next(out, format, &table);
}

Status live_report_write(Text *out, const char *format, const Live *live)
{
    if (strcmp(format, "csv") == 0) return live_json_csv(out, live);
    if (strcmp(format, "json") == 0) return live_json_write(out, live);
    return write_tables(out, format, live);
}

/* ---- a line ---- */

static bool first_phase(const Live *live, size_t *cell, int *phase)
{
    for (*cell = 0; *cell < live->n_cells; ++*cell) {
        for (*phase = 0; *phase < COMPARISON_PHASES; ++*phase) {
            if (live->cells[*cell].phases[*phase].there) return true;
        }
    }
    return false;
}

void live_report_put_summary(Text *out, const Live *live)
{
    size_t cell;
    int phase;
    text_puts(out, comparison_verdict_word(live_judge_verdict(live)));
    if (!live_judge_worst(live, &cell, &phase) && !first_phase(live, &cell, &phase)) return;
    const LivePhase *p = &live->cells[cell].phases[phase];
    text_puts(out, ": ");
    put_label(out, live, cell);
    text_printf(out, ": %s %+.1f %%", comparison_phases[phase], 100 * p->change);
    if (!isinf(p->interval.low) && !isinf(p->interval.high))
        text_printf(out, " (%+.1f .. %+.1f %%)", 100 * p->low, 100 * p->high);
    text_printf(out, ", %d %s in %s", live->pairs, live->pairs == 1 ? "pair" : "pairs",
                human_eta(live->seconds).s);
}
