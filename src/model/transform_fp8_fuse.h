#pragma once

#include "plan/plan.h"

/* Where sizes of earlier steps give the scales (the recipe `delayed`), an op whose results are
 * quantized and read by nobody else quantizes them itself: they never lie in memory in 16 bits. The
 * same bits come out. For devices with kernels that do so; the plan is whole when this is called. */
Status transform_fp8_fuse(Plan *plan);
