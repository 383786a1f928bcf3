/* A cell of the precision study: how far its numbers are from float64, and then its time and memory like
 * those of any other cell. */
#pragma once

#include "bench/cell/runner.h"

/* RunnerCell. Beside what cell_run() tells, the record gets
 *
 *   dtypes   {component: dtype}, in the order of component_dtypes.def
 *   reference_seconds
 *   reference  {status: oom, message}, where float64 has no room: then none of the others
 *   errors   one object for each way to scale the loss (fp16: as asked for, then not at all):
 *            {loss_scaling, loss_scale, overflowed, loss, logits, gradients,
 *             backward: {elements, subnormal, zero, nonfinite}, parts: [{name, error}, ...],
 *             tensors: [{name, error, elements, lost, nonfinite}, ...]} */
Status precision_cell_run(const Config *config, CellLink *link);
