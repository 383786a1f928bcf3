/* Every collective over many sizes, to the bit, in ranks that mpirun starts: rank_bits.sh. Rank N
 * writes a hash of all results to the file PREFIX.N. */
#include "base/float16.h"
#include "base/rng.h"
#include "comm/comm.h"
#include "comm/shard_pieces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 300007 }; /* several chunks */

static float *in, *out, *shard_out;
static char *shared; /* NULL: this path has none */
static uint64_t hash = 14695981039346656037u;

/* Rounded before it is added, wherever this is inlined. */
static float number(int rank, int64_t i)
{
    const float whole = (float)rng_below(3, (uint64_t)rank, (uint64_t)i, 1 << 22) - 2e6f;
    const volatile float x = whole * (i % 7 ? 1e-3f : 7e3f);
    return x;
}

static float rounded(float x, DType dtype)
{
    return dtype == DT_BF16 ? float16_from_bf16(float16_to_bf16(x)) : x;
}

static float get(const void *data, int64_t i, DType dtype)
{
    return dtype == DT_BF16 ? float16_from_bf16(((const uint16_t *)data)[i])
                            : ((const float *)data)[i];
}

static void fill(int rank, int64_t count, DType dtype)
{
    for (int64_t i = 0; i < count; i++) {
        if (dtype == DT_BF16)
            ((uint16_t *)in)[i] = float16_to_bf16(number(rank, i));
        else
            in[i] = number(rank, i);
    }
}

static Status expect_sums(const Comm *comm, const void *data, Shard part, DType dtype)
{
    for (int64_t i = 0; i < part.count; i++) {
        float sum = rounded(number(0, part.first + i), dtype);
        for (int r = 1; r < comm_ranks(comm); r++) sum += rounded(number(r, part.first + i), dtype);
        if (get(data, i, dtype) != rounded(sum, dtype))
            return FAIL(ST_FAILED, "element %" PRId64 " is %.9g, not %.9g", part.first + i,
                        (double)get(data, i, dtype), (double)rounded(sum, dtype));
    }
    return ST_OK;
}

static void add_to_hash(const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
}

static void fill_at(char *data, int rank, int64_t count, DType dtype)
{
    fill(rank, count, dtype);
    if (data != (char *)in) memcpy(data, in, (size_t)count * plan_dtype_size(dtype));
}

/* No two neighbouring bytes of a rank are the same, nor two ranks' at one place. */
static char byte_of(int rank, size_t i)
{
    return (char)(rank + (int)(i % 251));
}

static Status try_broadcast(Comm *comm, char *data, size_t bytes, const char *where)
{
    for (int root = 0; root < comm_ranks(comm); root++) {
        for (size_t i = 0; i < bytes; i++) data[i] = byte_of(comm_rank(comm), i);
        TRY(comm_broadcast(comm, data, bytes, root));
        for (size_t i = 0; i < bytes; i++)
            if (data[i] != byte_of(root, i))
                return FAIL(ST_FAILED, "broadcast of %d %s: byte %zu", root, where, i);
    }
    return ST_OK;
}

/* In place on part of an array that all ranks see; `out` has the sums. */
static Status try_shared(Comm *comm, int64_t count, DType dtype)
{
    const size_t size = plan_dtype_size(dtype), bytes = (size_t)count * size, from = 64;
    const Shard own = shard_of(count, comm_ranks(comm), comm_rank(comm));
    char *data = shared ? shared + from : (char *)in, *mine = data + (size_t)own.first * size;
    fill_at(data, comm_rank(comm), count, dtype);
    TRY(comm_reduce_scatter(comm, data, mine, count, dtype, 1));
    if (memcmp(mine, (char *)out + (size_t)own.first * size, (size_t)own.count * size) != 0)
        return FAIL(ST_FAILED, "reduce_scatter in place");
    memset(data, 0x7f, (size_t)own.first * size);
    TRY(comm_all_gather(comm, mine, data, count, dtype));
    if (memcmp(data, out, bytes) != 0) return FAIL(ST_FAILED, "all_gather in place");
    fill_at(data, comm_rank(comm), count, dtype);
    TRY(comm_all_reduce(comm, data, data, count, dtype, 1));
    if (memcmp(data, out, bytes) != 0) return FAIL(ST_FAILED, "all_reduce in place");
    return try_broadcast(comm, data, bytes, "in place");
}

static Status try_array(Comm *comm, int64_t count, DType dtype)
{
    const size_t bytes = (size_t)count * plan_dtype_size(dtype);
    const Shard all = {0, count}, own = shard_of(count, comm_ranks(comm), comm_rank(comm));
    fill(comm_rank(comm), count, dtype);
    memset(out, 0x7f, LONGEST * sizeof *out);
    TRY(comm_reduce_scatter(comm, in, shard_out, count, dtype, 1));
    TRY(expect_sums(comm, shard_out, own, dtype));
    TRY(comm_all_gather(comm, shard_out, out, count, dtype));
    TRY(expect_sums(comm, out, all, dtype));
    TRY(comm_all_reduce(comm, in, in, count, dtype, 1));
    if (memcmp(in, out, bytes) != 0)
        return FAIL(ST_FAILED, "all_reduce is not reduce_scatter and all_gather");
    add_to_hash(in, bytes);
    TRY(try_shared(comm, count, dtype));
    TRY(try_broadcast(comm, (char *)out, bytes, "of an array of its own"));
    return comm_barrier(comm);
}

static Status run(Comm *comm)
{
    static const int64_t counts[] = {0, 1, 2, 3, 63, 64, 65, 997, 4096, 65536, 131071, LONGEST};
    shared = comm_share(comm, (LONGEST + 64) * sizeof *in);
    if (!shared != (strcmp(comm_path(comm), "messages") == 0))
        return FAIL(ST_FAILED, "%s: a shared array", comm_path(comm));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        TRY(try_array(comm, counts[i], DT_F32));
        TRY(try_array(comm, counts[i], DT_BF16));
    }
    return ST_OK;
}

static Status write_hash(const char *prefix, const Comm *comm)
{
    char path[256];
    snprintf(path, sizeof path, "%s.%d", prefix, comm_rank(comm));
    FILE *file = fopen(path, "we");
    if (!file) return FAIL(ST_FAILED, "cannot write %s", path);
    fprintf(file, "%d ranks: %016" PRIx64 "\n", comm_ranks(comm), hash);
    return fclose(file) == 0 ? ST_OK : FAIL(ST_FAILED, "cannot write %s", path);
}

int main(int argc, char **argv)
{
    Comm *comm = NULL;
    if (argc != 2) return 2;
    in = malloc(LONGEST * sizeof *in);
    out = malloc(LONGEST * sizeof *out);
    shard_out = malloc(LONGEST * sizeof *shard_out);
    if (!in || !out || !shard_out) return 1;
    Status status = comm_open(&comm);
    if (status == ST_OK) status = run(comm);
    if (status == ST_OK) status = write_hash(argv[1], comm);
    if (status != ST_OK) {
        fprintf(stderr, "%s\n", status_message());
        return 1;
    }
    comm_close(comm);
    free(in);
    free(out);
    free(shard_out);
    comm_end();
    return 0;
}
