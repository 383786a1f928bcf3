#include "report/profile/profile_cells.h"

#include "base/human.h"
#include "bench/record/record_stat.h"
#include "report/records/column.h"
#include "report/records/record_notes.h"

#include <math.h>

double profile_cells_category(const ProfileView *v, int phase, OpCategory category)
{
    double total = 0;
    for (int i = 0; i < v->n_ops; i++) {
        const ViewOp *op = &v->ops[i];
        if ((phase == PHASE_COUNT || (int)op->phase == phase) && op->category == category)
            total += op->time.total;
    }
    return total;
}

double profile_cells_attributed(const ProfileView *v)
{
    double total = 0;
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) total += v->phases[p].attributed;
    return total;
}

void profile_cells_spread(Table *table, const ViewStats *time)
{
    const double ns[] = {time->avg, time->med, time->min, time->max, time->std};
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
        table_cell(table, human_us(time->n ? ns[i] : NAN).s);
}

void profile_cells_gaps(Table *table, const ViewGaps *gaps, const char *what, double steps)
{
    const char *const each = steps > 0 ? " a step" : "", *const comma = steps > 0 ? "," : "";
    const char *const nothing = "what is not attributed";
    const double of = steps > 0 ? steps : 1;
    table_cell_printf(table, "gaps between %s%s%s", what, comma, each);
    table_cell(table, human_mean_count((double)gaps->time.n / of).s);
    if (gaps->time.n == 0) return;
    table_cell_printf(table, "gaps between %s: median, p99", what);
    table_cell_printf(table, "%s, %s", human_seconds(gaps->time.med * 1e-9).s,
                      human_seconds(gaps->p99 * 1e-9).s);
    table_cell_printf(table, "gaps between %s: total%s", what, each);
    table_cell(table, human_seconds(gaps->time.total * 1e-9 / of).s);
    table_cell_printf(table, "longest gap between %s", what);
    table_cell_printf(table, "%s, after %s, before %s", human_seconds(gaps->time.max * 1e-9).s,
                      gaps->after ? gaps->after : nothing, gaps->before ? gaps->before : nothing);
}

const char *profile_cells_phase(Phase phase)
{
    static const char *const names[PHASE_COUNT] = {[PHASE_FORWARD] = "FORWARD",
                                                   [PHASE_BACKWARD] = "BACKWARD",
                                                   [PHASE_OPTIMIZER] = "OPTIMIZER"};
    return names[phase];
}

const char *profile_cells_stat(const Record *record)
{
    static const char *const words[STAT_COUNT] = {
        [STAT_MEDIAN] = "medians", [STAT_MEAN] = "means", [STAT_MIN] = "minima"};
    return words[record_stat(record)];
}

bool profile_cells_failed(const Record *record)
{
    return !json_is_object(json_object_get(record, "profile"));
}

void profile_cells_notes(Table *table, const RecordSet *set, const RowWarnings *warnings)
{
    const ColumnSet shown = column_distinct(set);
    record_notes_common(table, set);
    record_notes_rows(table, set, &shown, warnings);
}
