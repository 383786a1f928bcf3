#include "comm/messages.h"

#include "comm/rank_sum.h"
#include "comm/shard_pieces.h"

#include <stdlib.h>
#include <string.h>

Status messages_check(const MpiEngine *engine, int code, const char *what)
{
    char text[MPI_ENGINE_TEXT];
    if (code == 0) return ST_OK;
    engine->error_text(code, text);
    return FAIL(ST_FAILED, "MPI: %s: %s", what, text);
}

Status messages_init(Messages *m)
{
    const size_t n = (size_t)m->ranks;
    m->sent = malloc(n * m->segment);
    m->gotten = malloc(n * m->segment);
    m->ints = malloc(4 * n * sizeof *m->ints);
    return m->sent && m->gotten && m->ints ? ST_OK
                                           : NO_MEMORY("for messages of %d ranks", m->ranks);
}

void messages_free(Messages *m)
{
    free(m->sent);
    free(m->gotten);
    free(m->ints);
    *m = (Messages){0};
}

/* ---- one chunk ---- */

/* Whose shard the segment of each rank is of: sent are pieces of theirs, gotten those of one's own. */
typedef enum Side { SENT, GOTTEN } Side;

static int *bytes_of(const Messages *m, Side side)
{
    return m->ints + 2 * (ptrdiff_t)side * m->ranks;
}

static MpiLayout layout(const Messages *m, Side side)
{
    int *at = bytes_of(m, side) + m->ranks;
    for (int r = 0; r < m->ranks; r++) at[r] = (int)((size_t)r * m->segment);
    return (MpiLayout){bytes_of(m, side), at};
}

static Status sum_chunk(Messages *m, const ShardedArray *a, const char *in, char *own_out,
                        DType dtype, float scale, int64_t k)
{
    const ShardPiece own = shard_piece(a, m->rank, k);
    const void **x = malloc((size_t)m->ranks * sizeof *x);
    if (!x) return NO_MEMORY("for a sum over %d ranks", m->ranks);
    for (int r = 0; r < m->ranks; r++) {
        const ShardPiece p = shard_piece(a, r, k);
        bytes_of(m, SENT)[r] = (int)p.bytes;
        bytes_of(m, GOTTEN)[r] = (int)own.bytes;
        x[r] = m->gotten + (size_t)r * m->segment;
        if (p.bytes > 0) memcpy(m->sent + (size_t)r * m->segment, in + p.at, p.bytes);
    }
    const int code = m->engine->all_to_all(m->sent, layout(m, SENT), m->gotten, layout(m, GOTTEN));
    if (code == 0) rank_sum(own_out + own.in_shard, NULL, x, m->ranks, own.count, dtype, scale);
    free(x);
    return messages_check(m->engine, code, "all-to-all");
}

static Status gather_chunk(Messages *m, const ShardedArray *a, const char *own_in, char *out,
                           int64_t k)
{
    const ShardPiece own = shard_piece(a, m->rank, k);
    for (int r = 0; r < m->ranks; r++) bytes_of(m, GOTTEN)[r] = (int)shard_piece(a, r, k).bytes;
    TRY(messages_check(
        m->engine,
        m->engine->all_gather(own_in + own.in_shard, (int)own.bytes, m->gotten, layout(m, GOTTEN)),
        "all-gather"));
    for (int r = 0; r < m->ranks; r++) {
        const ShardPiece p = shard_piece(a, r, k);
        if (p.bytes > 0) memcpy(out + p.at, m->gotten + (size_t)r * m->segment, p.bytes);
    }
    return ST_OK;
}

/* ---- whole arrays ---- */

static ShardedArray array_of(const Messages *m, int64_t count, DType dtype)
{
    return (ShardedArray){count, plan_dtype_size(dtype), m->segment, m->ranks};
}

Status messages_reduce_scatter(Messages *m, const void *in, void *out, int64_t count, DType dtype,
                               float scale)
{
    const ShardedArray array = array_of(m, count, dtype);
    for (int64_t k = 0; k < shard_chunks(&array); k++)
        TRY(sum_chunk(m, &array, in, out, dtype, scale, k));
    return ST_OK;
}

Status messages_all_gather(Messages *m, const void *in, void *out, int64_t count, DType dtype)
{
    const ShardedArray array = array_of(m, count, dtype);
    for (int64_t k = 0; k < shard_chunks(&array); k++) TRY(gather_chunk(m, &array, in, out, k));
    return ST_OK;
}

Status messages_all_reduce(Messages *m, const void *in, void *out, int64_t count, DType dtype,
                           float scale)
{
    const ShardedArray array = array_of(m, count, dtype);
    char *own = (char *)out + shard_piece(&array, m->rank, 0).at;
    TRY(messages_reduce_scatter(m, in, own, count, dtype, scale));
    return messages_all_gather(m, own, out, count, dtype);
}

Status messages_broadcast(Messages *m, void *data, size_t bytes, int root)
{
    enum { MOST = 1 << 30 }; /* MPI counts in int */
    for (size_t at = 0; at < bytes; at += MOST) {
        const size_t n = bytes - at < MOST ? bytes - at : MOST;
        TRY(messages_check(m->engine, m->engine->broadcast((char *)data + at, (int)n, root),
                           "broadcast"));
    }
    return ST_OK;
}
