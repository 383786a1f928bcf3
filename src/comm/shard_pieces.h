/* An array that goes from rank to rank, shard by shard (plan/shard.h). */
#pragma once

#include "plan/shard.h"

#include <stddef.h>

/* It goes in chunks: of every shard a segment at a time. */
typedef struct ShardedArray {
    int64_t count;  /* elements */
    size_t size;    /* bytes of one */
    size_t segment; /* bytes of a segment */
    int ranks;
} ShardedArray;

typedef struct ShardPiece {
    size_t at, in_shard; /* bytes from the beginning of the array, of the shard */
    size_t bytes;
    int64_t count; /* elements */
} ShardPiece;

/* How many chunks: the first shard is the longest. */
static inline int64_t shard_chunks(const ShardedArray *a)
{
    const int64_t most = (int64_t)(a->segment / a->size);
    return (shard_of(a->count, a->ranks, 0).count + most - 1) / most;
}

/* What chunk k has of a rank's shard; it may be empty. */
static inline ShardPiece shard_piece(const ShardedArray *a, int rank, int64_t k)
{
    const Shard shard = shard_of(a->count, a->ranks, rank);
    const int64_t most = (int64_t)(a->segment / a->size);
    const int64_t before = i64_min(k * most, shard.count);
    const int64_t count = i64_min(most, shard.count - before);
    return (ShardPiece){(size_t)(shard.first + before) * a->size, (size_t)before * a->size,
                        (size_t)count * a->size, count};
}
