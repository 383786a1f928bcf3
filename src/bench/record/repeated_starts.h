/* Several measurements of the same cell, each in a process of its own, as one.
 *
 * Steps of one process share its luck (where memory lies, what else ran), so they are no independent
 * samples. With several starts of a cell each start counts once: the samples are the medians of the
 * starts. */
#pragma once

#include "bench/record/record_set.h"

/* Adds to `out` the rows of `in`, those with one key as one row, in the order of their first. A row that
 * is there twice with the same samples was measured once. *most gets the largest number of starts of a
 * cell. */
Status repeated_starts_join(RecordSet *out, const RecordSet *in, int *most);
