/* The least time a step could take on this machine: every product at the largest rate measured, and
 * everything that cannot lie in a cache through memory once. */
#pragma once

#include "bench/limits/limits.h"
#include "plan/plan.h"

/* Of the phases of one step; NAN where the limits say nothing of that precision. Activations
 * that fit in the last-level caches (Limits.cache_bytes) need not go through memory; parameters, gradients
 * and moments must when they are more than that together. */
double roofline_seconds(const Plan *plan, const Limits *limits, Precision precision);
/* Of each node, every time it runs. False: the limits say nothing of that precision. */
bool roofline_nodes(const Plan *plan, const Limits *limits, Precision precision, double *seconds);

/* The largest rate of memory measured, in bytes per second; NAN: none. */
double roofline_bandwidth(const Limits *limits);
