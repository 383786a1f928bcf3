/* In which options two cells differ: why two result files have none in common. */
#pragma once

#include "base/text.h"
#include "bench/record/record_set.h"

/* Appends "ctx (128, 256), steps (10, 20)": what the keys of two cells do not share; "-" where one has
 * no such field. Returns how many fields that are; `out` may be NULL. */
int key_difference_put(Text *out, const char *key_a, const char *key_b);

/* The two cells, one of each set, that differ in the fewest options; false where a set has no cell with a
 * key. It looks at the first KEY_DIFFERENCE_MOST of each. */
enum { KEY_DIFFERENCE_MOST = 300 };
bool key_difference_nearest(const RecordSet *a, const RecordSet *b, const Record **of_a,
                            const Record **of_b);
