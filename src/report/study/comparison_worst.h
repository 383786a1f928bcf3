/* What became slower by most, in a line: the cell, the phase and, of two profiles, the op. */
#pragma once

#include "report/study/comparison_report.h"

/* Appends "worst: small, ctx 256: step +4.1 % (+3.8 .. +5.0 %)"; nothing where no phase is slower. */
void comparison_worst_put(Text *out, const ComparisonReport *report);
/* Appends "matmul of layers.*.ffn.w1, backward: from 1.20 ms to 1.44 ms a step": the op whose time grew
 * most or, with `sign` -1, fell most. False: the records have no profiles, or no op changed so. */
bool comparison_worst_put_op(Text *out, const Record *a, const Record *b, int sign);
