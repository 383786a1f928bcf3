#include "base/clock.h"
#include "bench/limits/limits_gpu_parts_cuda.h"
#include "bench/limits/limits_kernels_cuda.h"

enum { ALONE = LIMITS_MAX_REPEATS, IN_A_ROW = 1000, WARM_UP = 200, REPEATS = 15 };

static Status launch_many(Backend *be, int n)
{
    for (int i = 0; i < n; i++) TRY(limits_kernels_empty(be));
    return ST_OK;
}

static Status wait_for(Backend *be)
{
    TRY_CUDA(cudaStreamSynchronize(be->stream));
    return ST_OK;
}

/* From before the launch until the host knows that it has ended. */
static Status measure_latency(Backend *be, LimitsRate *out)
{
    double seconds[ALONE];
    for (int i = 0; i < ALONE; i++) {
        const double start = clock_seconds();
        TRY(limits_kernels_empty(be));
        TRY(wait_for(be));
        seconds[i] = clock_seconds() - start;
    }
    *out = limits_rate_of(seconds, ALONE);
    return ST_OK;
}

/* Fewer than the queue holds, so that what is measured is launching and not waiting for room. */
static Status measure_stream(Backend *be, LimitsRate *out)
{
    double rates[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        const double start = clock_seconds();
        TRY(launch_many(be, IN_A_ROW));
        TRY(wait_for(be));
        rates[i] = IN_A_ROW / (clock_seconds() - start);
    }
    *out = limits_rate_of(rates, REPEATS);
    return ST_OK;
}

static Status capture(Backend *be, const BackendApi *api, void **graph)
{
    TRY(api->capture_begin(be));
    const Status launched = launch_many(be, IN_A_ROW);
    const Status ended = api->capture_end(be, graph);
    return launched == ST_OK ? ended : launched;
}

static Status time_graph(Backend *be, const BackendApi *api, void *graph, LimitsRate *out)
{
    double rates[REPEATS];
    TRY(api->launch(be, graph));
    for (int i = 0; i < REPEATS; i++) {
        double seconds = 1;
        TRY(api->mark(be, 0));
        TRY(api->launch(be, graph));
        TRY(api->mark(be, 1));
        TRY(api->elapsed(be, 0, 1, &seconds));
        rates[i] = IN_A_ROW / seconds;
    }
    *out = limits_rate_of(rates, REPEATS);
    return ST_OK;
}

static Status measure_graph(Backend *be, LimitsRate *out)
{
    const BackendApi *api = backend_api(BACKEND_cuda);
    void *graph = NULL;
    TRY(capture(be, api, &graph));
    const Status status = time_graph(be, api, graph, out);
    api->drop(be, graph);
    return status;
}

Status limits_gpu_launch(Backend *be, Limits *out)
{
    TRY(launch_many(be, WARM_UP));
    TRY(wait_for(be));
    TRY(measure_latency(be, &out->rate[LIMIT_LAUNCH_LATENCY][LIMITS_ALL]));
    TRY(measure_stream(be, &out->rate[LIMIT_LAUNCHES][LIMITS_ALL]));
    return measure_graph(be, &out->rate[LIMIT_GRAPH_LAUNCHES][LIMITS_ALL]);
}
