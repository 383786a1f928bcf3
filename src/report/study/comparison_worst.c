#include "report/study/comparison_worst.h"

#include "base/human.h"
#include "bench/record/comparison_gate.h"
#include "bench/record/op_change.h"
#include "report/records/record_notes.h"

#include <math.h>

bool comparison_worst_put_op(Text *out, const Record *a, const Record *b, int sign)
{
    OpChange op;
    if (!op_change_largest(&op, a, b, sign)) return false;
    text_printf(out, "%s: from %s to %s a step", op.name, human_seconds(op.before / 1e9).s,
                human_seconds(op.after / 1e9).s);
    return true;
}

void comparison_worst_put(Text *out, const ComparisonReport *report)
{
    const ComparisonGate gate = comparison_gate_make(report->comparison, INFINITY);
    CLEANUP(text_free) Text op = {0};
    if (!gate.worst) return;
    const ComparisonPhase *p = &gate.worst->phases[gate.worst_phase];
    ColumnSet shown = column_distinct(report->a);
    column_leave_out(&shown, "environment_id");
    text_puts(out, "worst: ");
    record_notes_label(out, &shown, gate.worst->a);
    text_printf(out, ": %s %+.1f %%", comparison_phases[gate.worst_phase], 100 * p->change);
    if (!isnan(p->low)) text_printf(out, " (%+.1f .. %+.1f %%)", 100 * p->low, 100 * p->high);
    if (comparison_worst_put_op(&op, gate.worst->a, gate.worst->b, 1))
        text_printf(out, "; the op that grew most: %s", text_str(&op));
}
