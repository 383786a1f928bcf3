#include "bench/study/collective_cell.h"

#include "backend/cpu_info.h"
#include "base/clock.h"
#include "base/float16.h"
#include "base/human.h"
#include "base/json_text.h"
#include "base/stats.h"
#include "bench/cell/rank_device.h"
#include "bench/limits/comm_link.h"
#include "bench/measure/sampler.h"
#include "comm/comm.h"
#include "comm/nccl_comm.h"
#include "comm/shard_pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OURS, PLAIN, SIDES };

typedef struct Cell {
    const Config *config;
    Config own; /* with the GPU of this rank */
    CellLink *link;
    Comm *comm;
    void *data, *owned; /* owned: the same, where it is not shared */
    /* of ranks on GPUs; `data` is then what goes there and comes back */
    const BackendApi *api; /* NULL: ranks on CPUs */
    Backend *backend;
    void *device_data;
    int sides; /* OURS alone, where MPI has no call of its own */
    int64_t count;
    DType dtype;
    int64_t calls; /* of a sample */
    SampleList times[SIDES];
} Cell;

/* ---- memory ---- */

static void free_memory(Cell *cell)
{
    free(cell->owned);
    if (cell->device_data)
        cell->api->release(cell->backend, cell->device_data, (size_t)cell->config->bytes);
    if (cell->backend) cell->api->close(cell->backend);
    for (int side = 0; side < SIDES; side++) sample_list_free(&cell->times[side]);
}

/* MPI takes as much again for itself. */
static Status take_memory(Cell *cell)
{
    const size_t page = 4096, bytes = (size_t)cell->config->bytes;
    const double needed = 2 * (double)bytes * (double)cell->config->ranks;
    size_t left = 0;
    if (cpu_info_memory_available(&left) == ST_OK && needed > (double)left)
        return FAIL(ST_NO_MEMORY, "%d ranks need %s, and %s is available", (int)cell->config->ranks,
                    human_bytes(needed).s, human_bytes((double)left).s);
    TRY(comm_barrier(cell->comm)); /* nobody takes memory before all have looked */
    if (!cell->api) cell->data = comm_share(cell->comm, bytes);
    if (cell->data) return ST_OK;
    cell->data = cell->owned = aligned_alloc(page, (bytes + page - 1) / page * page);
    return cell->data ? ST_OK : NO_MEMORY("for %zu bytes", bytes);
}

static Status take_device_memory(Cell *cell)
{
    if (!cell->api) return ST_OK;
    return cell->api->alloc(cell->backend, (size_t)cell->config->bytes, &cell->device_data);
}

/* ---- right ---- */

/* Whole numbers, small enough for their sums to be exact; they repeat, so that large arrays are
 * checked in time. */
enum { PERIOD = 7 };

static float value_of(int64_t i, int rank)
{
    return (float)((i + 5 * (int64_t)rank) % PERIOD - PERIOD / 2);
}

static float rounded(float x, DType dtype)
{
    return dtype == DT_BF16 ? float16_from_bf16(float16_to_bf16(x)) : x;
}

static void put(Cell *cell, int64_t i, float x)
{
    if (cell->dtype == DT_BF16)
        ((uint16_t *)cell->data)[i] = float16_to_bf16(x);
    else
        ((float *)cell->data)[i] = x;
}

static float get(const Cell *cell, int64_t i)
{
    return cell->dtype == DT_BF16 ? float16_from_bf16(((const uint16_t *)cell->data)[i])
                                  : ((const float *)cell->data)[i];
}

/* What this rank brings along; where that is nothing, NaN. */
static void fill(Cell *cell)
{
    const Collective op = cell->config->op;
    const int rank = comm_rank(cell->comm);
    const Shard own = shard_of(cell->count, comm_ranks(cell->comm), rank);
    for (int64_t i = 0; i < cell->count; i++) {
        const bool mine = i >= own.first && i < own.first + own.count;
        const bool has = op == COLLECTIVE_ALL_GATHER  ? mine
                         : op == COLLECTIVE_BROADCAST ? rank == 0
                                                      : true;
        put(cell, i, has ? value_of(i, rank) : NAN);
    }
}

/* Of elements first to first + n - 1 of the array, which are at `at` here: the sum over `ranks`
 * from `from` on. */
static Status check_part(const Cell *cell, Shard part, int64_t at, int from, int ranks)
{
    float expected[PERIOD];
    for (int k = 0; k < PERIOD; k++) {
        expected[k] = 0;
        for (int r = from; r < from + ranks; r++) expected[k] += value_of(part.first + k, r);
        expected[k] = rounded(expected[k], cell->dtype);
    }
    for (int64_t i = 0; i < part.count; i++) {
        const float x = get(cell, at + i);
        if (x == expected[i % PERIOD]) continue;
        return FAIL(ST_FAILED, "%s: element %lld is %.9g and not %.9g",
                    config_collectives[cell->config->op], (long long)(part.first + i), (double)x,
                    (double)expected[i % PERIOD]);
    }
    return ST_OK;
}

/* MPI leaves the shard of a reduce_scatter in place at the beginning of the array. */
static Status check_result(const Cell *cell, bool plain)
{
    const int ranks = comm_ranks(cell->comm), rank = comm_rank(cell->comm);
    const Shard all = {0, cell->count}, own = shard_of(cell->count, ranks, rank);
    switch (cell->config->op) {
    case COLLECTIVE_ALL_REDUCE:
        return check_part(cell, all, 0, 0, ranks);
    case COLLECTIVE_REDUCE_SCATTER:
        return check_part(cell, own, plain ? 0 : own.first, 0, ranks);
    case COLLECTIVE_BROADCAST:
        return check_part(cell, all, 0, 0, 1);
    default:
        for (int r = 0; r < ranks; r++) {
            const Shard shard = shard_of(cell->count, ranks, r);
            TRY(check_part(cell, shard, shard.first, r, 1));
        }
        return ST_OK;
    }
}

static Status call(Cell *cell, bool plain)
{
    if (cell->api)
        return nccl_comm_collective(comm_gpu_nccl(cell->comm), cell->backend, cell->config->op,
                                    cell->device_data, cell->count, cell->dtype);
    return comm_collective(cell->comm, cell->config->op, plain, cell->data, cell->count,
                           cell->dtype);
}

static Status to_device(Cell *cell)
{
    if (!cell->api) return ST_OK;
    return cell->api->upload(cell->backend, cell->device_data, cell->data,
                             (size_t)cell->config->bytes);
}

static Status from_device(Cell *cell)
{
    if (!cell->api) return ST_OK;
    return cell->api->download(cell->backend, cell->data, cell->device_data,
                               (size_t)cell->config->bytes);
}

static Status check(Cell *cell)
{
    TRY(cell_link_stage(cell->link, "check", 0, 0));
    for (int side = 0; side < cell->sides; side++) {
        fill(cell);
        TRY(to_device(cell));
        TRY(call(cell, side == PLAIN));
        TRY(from_device(cell));
        const Status status = check_result(cell, side == PLAIN);
        if (status != ST_OK && side == PLAIN) status_context("MPI's own call");
        TRY(status);
    }
    memset(cell->data, 0, (size_t)cell->config->bytes); /* sums of it stay finite */
    return to_device(cell);
}

/* ---- fast ---- */

static Status time_calls(Cell *cell, bool plain, double *seconds)
{
    TRY(comm_barrier(cell->comm));
    const double begun = clock_seconds();
    for (int64_t i = 0; i < cell->calls; i++) TRY(call(cell, plain));
    if (cell->api) TRY(cell->api->sync(cell->backend));
    *seconds = (clock_seconds() - begun) / (double)cell->calls;
    return ST_OK;
}

/* As rank 0 says. */
static Status agree(Cell *cell, int64_t *number)
{
    return comm_broadcast(cell->comm, number, sizeof *number, 0);
}

/* So many calls a sample that reading the clock and the barrier before it do not count. */
static Status warm_up(Cell *cell)
{
    static const double least = 2e-4; /* seconds of a sample */
    double seconds = 0, once = INFINITY;
    cell->calls = 1;
    for (int64_t i = 0; i < i64_max(cell->config->warmup, 1); i++) {
        TRY(cell_link_stage(cell->link, "warm-up", i + 1, cell->config->warmup));
        if (cell->sides > PLAIN) TRY(time_calls(cell, true, &seconds));
        TRY(time_calls(cell, false, &seconds));
        once = fmin(once, seconds);
    }
    cell->calls = once < least ? (int64_t)ceil(fmin(least / fmax(once, 1e-9), 1000)) : 1;
    return agree(cell, &cell->calls);
}

static Status measure(Cell *cell)
{
    const Config *config = cell->config;
    const double begun = clock_seconds(), most = config_sample_seconds(config);
    for (int64_t i = 0; i < config->steps; i++) {
        int64_t goes_on = i < SAMPLER_MIN_SAMPLES || !(most > 0) || clock_seconds() - begun < most;
        TRY(agree(cell, &goes_on));
        if (!goes_on) break;
        TRY(cell_link_stage(cell->link, "step", i + 1, config->steps));
        for (int side = 0; side < cell->sides; side++) {
            double seconds = 0;
            TRY(time_calls(cell, side == PLAIN, &seconds));
            TRY(sample_list_add(&cell->times[side], seconds));
        }
    }
    /* The slowest rank's time is that of the collective. */
    for (int side = 0; side < cell->sides; side++)
        TRY(comm_largest(cell->comm, cell->times[side].seconds, cell->times[side].n));
    return ST_OK;
}

/* ---- figures ---- */

static Status put_figures(Record *r, const Cell *cell, const StatsSummary *s, const char *prefix)
{
    const double algorithm = (double)cell->config->bytes / s->median * 1e-9;
    const double bus = algorithm * comm_link_bus_factor(cell->config->op, cell->config->ranks);
    const struct {
        const char *name;
        double value;
    } figures[] = {{"median_ms", 1e3 * s->median},
                   {"median_low_ms", 1e3 * s->median_low},
                   {"median_high_ms", 1e3 * s->median_high},
                   {"min_ms", 1e3 * s->min},
                   {"max_ms", 1e3 * s->max},
                   {"algbw_gbs", algorithm},
                   {"busbw_gbs", bus}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        char name[48];
        snprintf(name, sizeof name, "%s%s", prefix, figures[i].name);
        TRY(record_put_number(r, name, figures[i].value));
    }
    return ST_OK;
}

static Status tell(const Cell *cell)
{
    CLEANUP(json_text_free) Record *r = json_object();
    StatsSummary s[SIDES];
    if (!r) return NO_MEMORY("for figures");
    for (int i = 0; i < cell->times[OURS].n; i++) {
        Sample sample = sample_empty();
        sample.seconds[SAMPLE_STEP] = cell->times[OURS].seconds[i];
        TRY(cell_link_sample(cell->link, &sample));
    }
    for (int side = 0; side < cell->sides; side++) {
        s[side] = stats_summary(cell->times[side].seconds, cell->times[side].n);
        TRY(put_figures(r, cell, &s[side], side == PLAIN ? "mpi_" : ""));
    }
    if (cell->sides > PLAIN)
        TRY(record_put_number(r, "mpi_ratio", s[PLAIN].median / s[OURS].median));
    TRY(record_put_int(r, "calls", cell->calls));
    TRY(record_put_text(r, "device", cell->api ? cell->config->device : "cpu"));
    TRY(record_put_text(r, "path", cell->owned ? comm_path(cell->comm) : "shared arrays"));
    TRY(record_put_text(r, "mpi", comm_library_version(cell->comm)));
    if (cell->api) TRY(record_put_text(r, "nccl", nccl_comm_version(comm_gpu_nccl(cell->comm))));
    return cell_link_facts(cell->link, r);
}

/* ---- the path ---- */

/* Without --device ranks are on CPUs. */
static Status find_device(Cell *cell, const Config *config)
{
    Placement placement;
    if (strncmp(config->device, "cuda", 4) != 0) return ST_OK;
    cell->own = *config;
    TRY(rank_device_find(cell->comm, &cell->own));
    TRY(placement_find(&cell->own, &placement));
    TRY(rank_device_join(cell->comm, &placement));
    cell->config = &cell->own;
    cell->api = backend_api(placement.backend);
    cell->sides = PLAIN;
    return cell->api->open(&cell->backend, placement.device);
}

static Status run(Cell *cell)
{
    TRY(comm_open(&cell->comm));
    TRY(comm_check_ranks(cell->comm, cell->config->ranks));
    TRY(find_device(cell, cell->config));
    TRY(take_memory(cell));
    TRY(take_device_memory(cell));
    TRY(check(cell));
    TRY(warm_up(cell));
    TRY(measure(cell));
    return tell(cell);
}

Status collective_cell_run(const Settings *settings, const Config *config, CellLink *link)
{
    const DType dtype = config->precision == PRECISION_BF16 ? DT_BF16 : DT_F32;
    Cell cell = {.config = config,
                 .link = link,
                 .dtype = dtype,
                 .sides = SIDES,
                 .count = config->bytes / (int64_t)plan_dtype_size(dtype)};
    (void)settings;
    TRY(cell_link_stage(link, "start", 0, 0));
    const Status status = run(&cell);
    /* MPI would wait for the other ranks, and so would the GPU. */
    if (status != ST_OK && cell.api) return status;
    comm_gpu_leave(cell.comm);
    free_memory(&cell);
    TRY(status);
    comm_close(cell.comm);
    return cell_link_end(link, RECORD_OK, NULL);
}
