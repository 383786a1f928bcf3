/* Some nodes of a plan as a plan of their own, to be run and timed alone. */
#pragma once

#include "plan/plan.h"

/* The nodes i with wanted[i], in their order, all of the phase forward. What none of them writes is an input.
 * `out` is freed by the caller, after a failure too. */
Status plan_excerpt(Plan *out, const Plan *plan, const bool *wanted);
