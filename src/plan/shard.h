/* How ranks share an array: rank r owns the r-th shard of it. Shards are equally long, whole
 * cache lines of them, but for the last ones, which may be shorter or empty. */
#pragma once

#include "base/i64.h"

typedef struct Shard {
    int64_t first, count; /* elements */
} Shard;

static inline Shard shard_of(int64_t count, int64_t ranks, int64_t rank)
{
    enum { LINE = 32 }; /* elements: at least 64 bytes */
    const int64_t each = ((count + ranks - 1) / ranks + LINE - 1) / LINE * LINE;
    const int64_t first = i64_min(each * rank, count);
    return (Shard){first, i64_min(each, count - first)};
}
