/* Which keys a query of attention sees, and how many pairs of the two that makes.
 *
 * Without attr.causal every query sees all T keys; with it query i sees keys 0 .. i; and of those,
 * with a sliding window of W = attr.window keys, the last W: max(0, i - W + 1) .. i. */
#pragma once

#include "plan/plan.h"

/* The first key that query `row` sees. */
static inline int64_t visible_keys_first(const NodeAttr *attr, int64_t row)
{
    return attr->window > 0 && row >= attr->window ? row - attr->window + 1 : 0;
}

/* One past the last. */
static inline int64_t visible_keys_end(const NodeAttr *attr, int64_t row, int64_t T)
{
    return attr->causal ? row + 1 : T;
}

/* Pairs of a query and a key that it sees, as FLOPs count them: T^2 / 2 for causal attention, the
 * diagonal counted half, and W T - W^2 / 2 with a window below T by the same convention. */
static inline double visible_keys_pairs(const NodeAttr *attr, int64_t T)
{
    const double t = (double)T, w = (double)attr->window;
    if (!attr->causal) return t * t;
    return attr->window > 0 && attr->window < T ? w * (t - w / 2) : t * t / 2;
}
