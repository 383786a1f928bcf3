/* Implementations of the same attention, alone, against each other. */
#pragma once

#include "base/text.h"
#include "bench/record/record_set.h"

/* The attention of the longest sequence that more than one implementation ran. */
typedef struct AttentionRivals {
    int64_t ctx;               /* 0: none */
    const Record *slow, *fast; /* by the forward pass; borrowed */
    double slow_ms, fast_ms;
} AttentionRivals;

/* Stays as it is where these rows have none over a longer sequence. */
Status attention_rivals_find(AttentionRivals *longest, const RecordSet *rows);
/* Appends "Attention over 4096 tokens, forward: flash is 3.1 times as fast as naive and keeps ...", or
 * nothing where there are none. */
void attention_rivals_put(Text *out, const AttentionRivals *longest);
