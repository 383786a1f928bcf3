/* Rates from data sheets, beside the measured ones. */
#pragma once

#include "bench/limits/limits.h"

/* FLOP/s or bytes/s of a limit of the GPU that the driver calls `gpu`: of the largest matmul of each
 * precision and of memory; 0 for all others and for GPUs that are not in datasheets.def. */
double datasheet_find(const char *gpu, LimitId id);
