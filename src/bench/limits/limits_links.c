/* Two sizes tell a and b of time = messages a + bytes / b (comm_link.h): that of a cache line, whose bytes
 * cost next to nothing, and that of a bucket of gradients. */
#include "bench/limits/limits_links.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "base/log.h"
#include "bench/limits/limits_cache.h"
#include "bench/measure/interference.h"
#include "comm/comm_library.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static const double too_busy = 0.1; /* share of the machine's time, as of other limits */
static const int64_t small = 64, large = 25000000;

static Status find_key(LimitsKey *key)
{
    const MpiEngine *engine;
    char version[MPI_ENGINE_TEXT] = "";
    TRY(limits_key(0, key));
    TRY(comm_library(&engine));
    engine->library_version(version);
    snprintf(key->mpi, sizeof key->mpi, "%.63s", version);
    return *key->mpi ? ST_OK : FAIL(ST_UNSUPPORTED, "MPI does not say which it is");
}

/* ---- one cell of `collective` ---- */

typedef struct Timed {
    double median, low, high; /* seconds; 0: it did not come so far */
    int samples;
    char why[256];
} Timed;

static int run_cell(void *arg, int out)
{
    CellLink link;
    cell_link_open(&link, out);
    Status status = rank_launch_run(arg, &link);
    if (status != ST_OK) status = cell_link_fail(&link, status);
    cell_link_close(&link);
    return status == ST_OK ? 0 : 1;
}

static void take_facts(Timed *timed, const json_t *facts)
{
    const double median = 1e-3 * record_real(facts, "median_ms");
    const double low = 1e-3 * record_real(facts, "min_ms");
    const double high = 1e-3 * record_real(facts, "max_ms");
    if (!(low > 0 && low <= median && median <= high && high < 1e6)) return;
    *timed = (Timed){.median = median, .low = low, .high = high, .samples = timed->samples};
}

static void take_message(void *self, const char *line, size_t length)
{
    Timed *timed = self;
    CLEANUP(json_text_free) json_t *message = json_loadb(line, length, 0, NULL);
    const json_t *facts = json_object_get(message, "facts");
    const char *text = json_string_value(json_object_get(message, "message"));
    if (json_object_get(message, "sample")) timed->samples++;
    if (facts) take_facts(timed, facts);
    if (text) snprintf(timed->why, sizeof timed->why, "%s", text);
}

static void keep_quiet(void *self, const char *line)
{
    Timed *timed = self;
    if (!*timed->why) snprintf(timed->why, sizeof timed->why, "%s", line);
}

static Status time_cell(Collective op, int ranks, int64_t bytes, Timed *timed)
{
    Config config;
    ChildResult result;
    config_collective_defaults(&config);
    config.op = op;
    config.ranks = ranks;
    config.bytes = bytes;
    config.warmup = 3;
    config.steps = 20;
    config.sample_time = 0.3;
    config.timeout = 30;
    *timed = (Timed){0};
    const ChildTask task = {.body = run_cell,
                            .arg = &config,
                            .timeout = 2 * config.timeout,
                            .self = timed,
                            .message = take_message,
                            .printed = keep_quiet,
                            .adopts = true};
    TRY(child_run(&task, &result));
    if (result.end == CHILD_INTERRUPTED) return FAIL(ST_INTERRUPTED, "%s", result.text);
    if (timed->median > 0 && timed->samples > 0) return ST_OK;
    return FAIL(ST_FAILED, "%s of %d ranks: %s", config_collectives[op], ranks,
                *timed->why ? timed->why : result.text);
}

/* ---- latency and bandwidth ---- */

static double bandwidth_of(Collective op, int ranks, double less, double more)
{
    const double sent = comm_link_bus_factor(op, ranks) * (double)(large - small);
    return sent / fmax(more - less, 0.01 * more);
}

/* Of a message, never 0: a small array takes a tenth of its time at least for it. */
static double latency_of(Collective op, int ranks, double less, double bandwidth)
{
    const double sent = comm_link_bus_factor(op, ranks) * (double)small;
    return fmax(less - sent / bandwidth, 0.1 * less) / comm_link_messages(op, ranks);
}

static Status measure_link(Collective op, int count, Limits *out)
{
    const int ranks = comm_link_ranks[count];
    Timed less, more;
    TRY(time_cell(op, ranks, small, &less));
    TRY(time_cell(op, ranks, large, &more));
    const double bandwidth = bandwidth_of(op, ranks, less.median, more.median);
    out->rate[comm_link_bandwidth(count, op)][LIMITS_ALL] =
        (LimitsRate){bandwidth, fmin(bandwidth, bandwidth_of(op, ranks, less.median, more.high)),
                     fmax(bandwidth, bandwidth_of(op, ranks, less.median, more.low)), more.samples};
    const double latency = latency_of(op, ranks, less.median, bandwidth);
    out->rate[comm_link_latency(count, op)][LIMITS_ALL] =
        (LimitsRate){latency, fmin(latency, latency_of(op, ranks, less.low, bandwidth)),
                     fmax(latency, latency_of(op, ranks, less.high, bandwidth)), less.samples};
    return ST_OK;
}

/* More ranks than cores would measure how they wait for each other. */
static Status measure_links(Limits *out)
{
    for (int count = 0; count < COMM_LINK_COUNTS; count++) {
        if (count > 0 && comm_link_ranks[count] > out->key.cores) continue;
        for (int op = 0; op < COLLECTIVE_COUNT; op++) TRY(measure_link((Collective)op, count, out));
    }
    return ST_OK;
}

/* ---- all of it ---- */

/* The ranks' time is that of children. */
static Interference now(void)
{
    struct rusage r;
    Interference all = interference_now();
    getrusage(RUSAGE_CHILDREN, &r);
    all.own += (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
               1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
    return all;
}

static Status measure(const RankLaunch *launch, const LimitsKey *key, Limits *out)
{
    *out = (Limits){.key = *key};
    TRY(rank_launch_prepare(launch));
    log_note("measuring the links between ranks (once, 5 to 10 s)");
    const double start = clock_seconds();
    const Interference before = now();
    const Status status = measure_links(out);
    const Interference after = now();
    rank_launch_finish();
    TRY(status);
    const InterferenceShares shares = interference_between(&before, &after);
    out->seconds = clock_seconds() - start;
    out->steal = shares.steal;
    out->others = shares.others;
    snprintf(out->time_utc, sizeof out->time_utc, "%s", clock_utc().s);
    return ST_OK;
}

static void store(const Limits *links, bool keep)
{
    const double busy = links->steal + links->others;
    if (busy > too_busy && !keep) {
        log_warning("other programs took %.0f %% of the CPU time while links were measured: they "
                    "are not stored; run 'roofstep limits' on a quiet machine, or with --keep",
                    100 * busy);
    } else if (limits_cache_store(links) != ST_OK) {
        log_warning("cannot store the links between ranks: %s", status_message());
    }
}

Status limits_links_get(const RankLaunch *launch, bool refresh, bool keep, Limits *out)
{
    LimitsKey key;
    TRY(find_key(&key));
    if (!refresh && limits_cache_load(&key, out)) return ST_OK;
    TRY(measure(launch, &key, out));
    store(out, keep);
    return ST_OK;
}

bool limits_links_find(Limits *out)
{
    LimitsKey key;
    return find_key(&key) == ST_OK && limits_cache_load(&key, out);
}

void limits_links_add(Limits *to, const Limits *links)
{
    snprintf(to->key.mpi, sizeof to->key.mpi, "%s", links->key.mpi);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (limits_is_link((LimitId)i)) to->rate[i][LIMITS_ALL] = links->rate[i][LIMITS_ALL];
    }
}

Status limits_links_store_both(const Limits *both)
{
    LimitsKey usual;
    Limits limits = *both, links = *both;
    *limits.key.mpi = '\0';
    TRY(limits_cache_store(&limits));
    if (!*both->key.mpi) return ST_OK;
    TRY(limits_key(0, &usual));
    links.key.threads = usual.threads;
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (!limits_is_link((LimitId)i)) links.rate[i][LIMITS_ALL] = (LimitsRate){0};
    }
    return limits_cache_store(&links);
}
