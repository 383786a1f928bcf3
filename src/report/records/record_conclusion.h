/* The one thing to take away from records, as a sentence that ends their table. */
#pragma once

#include "base/text.h"
#include "bench/record/record_set.h"

/* Of models the fastest row and what bounds it, of attention alone its implementations against each
 * other; where nothing was measured how the cells ended. */
Status record_conclusion_put(Text *out, const RecordSet *set);

/* Appends "memory-bound: matrix multiplications are 12 % of its shortest possible time". False: the
 * machine's limits, or the FLOPs, are not known. */
bool record_conclusion_bound(Text *out, const Record *record);
