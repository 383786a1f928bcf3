/* A cell of `precision --curve`: training steps on text from the same start in each precision. */
#pragma once

#include "bench/cell/runner.h"
#include "bench/study/curve_text.h"

/* Runs in a child. The record gets
 *
 *   curve   {losses: [of each step; null from the first on that is no number],
 *            warmup: steps until the learning rate is reached,
 *            last: steps at the end (50), mean: of their losses, null where one is missing,
 *            diverged_at: the first step whose loss is no number, after which the mean of ten is 1 above the
 *            lowest before, or from which on ten or more are skipped; 0: none,
 *            text: {source, bytes, hash, windows, used}}
 *
 * and `emulated` where it is. PyTorch tells the same of its curve (peers/torch_curve.py). */
Status curve_cell_run(const Config *config, CellLink *link, CurveText *text);

/* Of `steps`: over the first ones the learning rate rises to --lr. */
int64_t curve_cell_warmup(int64_t steps);
/* Of `steps`: those at the end whose mean loss is compared. */
int64_t curve_cell_last(int64_t steps);
