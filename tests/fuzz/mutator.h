/* Changes an input as files and lines go wrong, or are made to: bytes, pieces, lines, numbers, and
 * JSON as a tree. The same seed and number give the same changes on every machine. */
#pragma once

#include "base/text.h"

#include <stdint.h>

enum { MUTATOR_MOST = 1 << 18 }; /* bytes of an input */

typedef struct Mutator {
    uint64_t seed, number; /* of the input that is made */
    uint64_t drawn;
    const Text *pool; /* inputs that pieces are taken from */
    int n_pool;
} Mutator;

/* One of n, [0, n). */
int mutator_below(Mutator *m, int n);
/* One change; the text stays shorter than MUTATOR_MOST. */
void mutator_change(Mutator *m, Text *text);
/* One of the pool with some changes, packed now and then if any of the pool is. */
void mutator_make(Mutator *m, Text *text);

/* For mutator.c: a change of what the text is as JSON, or one line of it. False: it is none. */
bool mutator_json_change(Mutator *m, Text *text);
