#include "bench/measure/sampler.h"

#include "base/clock.h"

#include <math.h>

static const Phase order[] = {PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER};

static int n_phases(Mode mode)
{
    return !config_mode_has_backward(mode) ? 1 : mode == MODE_FWD_BWD ? 2 : 3;
}

/* Runs one piece of work; its time by the device's clock goes to `gpu` where there is one. */
static Status run_marked(const SamplerDevice *device, const Phase *phase, double *gpu)
{
    if (device->mark) TRY(device->mark(device->self, 0));
    TRY(phase ? device->run(device->self, *phase) : device->step(device->self));
    if (device->mark) TRY(device->mark(device->self, 1));
    if (device->queued || !phase) TRY(device->sync(device->self));
    if (device->mark) TRY(device->elapsed(device->self, gpu));
    return ST_OK;
}

/* One step with a reading of the clock after each phase. */
static Status step_by_phases(const SamplerDevice *device, Mode mode, Sample *sample)
{
    *sample = sample_empty();
    const double start = clock_seconds();
    double before = start;
    for (int i = 0; i < n_phases(mode); i++) {
        const SampleSeries series = sample_series_of(order[i]);
        TRY(run_marked(device, &order[i], &sample->seconds[SAMPLE_WALL_COUNT + series]));
        const double now = clock_seconds();
        sample->seconds[series] = now - before;
        before = now;
    }
    sample->seconds[SAMPLE_STEP] = before - start;
    return ST_OK;
}

/* One step as a training loop runs it: nobody waits between phases. */
static Status step_unbroken(const SamplerDevice *device, Sample *sample)
{
    *sample = sample_empty();
    const double start = clock_seconds();
    TRY(run_marked(device, NULL, &sample->seconds[SAMPLE_GPU_STEP]));
    sample->seconds[SAMPLE_STEP] = clock_seconds() - start;
    return ST_OK;
}

/* One loop: when it began and how long it may take; 0: as long as it likes. */
typedef struct Span {
    double start, seconds;
} Span;

static bool is_over(const Span *span, int64_t done, int64_t least)
{
    return span->seconds > 0 && done >= least && clock_seconds() - span->start >= span->seconds;
}

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static Status warm_up(const SamplerDevice *device, const SamplerOptions *extent,
                      const SamplerSink *sink)
{
    const Span span = {clock_seconds(), extent->seconds / 2};
    const int64_t n = extent->from_first ? extent->warmup : at_least(extent->warmup, 1);
    for (int64_t i = 0; i < n && !is_over(&span, i, 1); i++) {
        TRY(sink->stage(sink->self, i == 0 ? "first step" : "warm-up", i + 1, n));
        Sample sample;
        TRY(step_unbroken(device, &sample));
        if (i == 0) TRY(sink->cold(sink->self, sample.seconds[SAMPLE_STEP]));
    }
    return ST_OK;
}

/* The whole steps of one loop. Their interval is looked at again when a sixteenth more have come: finding ranks takes
 * time in proportion to their number. */
typedef struct Steps {
    SampleList list;
    int next_look;
    bool tight;
} Steps;

static Status add_step(Steps *steps, const SamplerOptions *extent, double seconds)
{
    if (!(extent->until > 0)) return ST_OK;
    TRY(sample_list_add(&steps->list, seconds));
    const int n = steps->list.n;
    if (n < SAMPLER_MIN_SAMPLES || n < extent->steps || n < steps->next_look) return ST_OK;
    steps->next_look = n + 1 + n / 16;
    steps->tight = sample_list_interval(&steps->list, extent->stat) <= extent->until;
    return ST_OK;
}

static bool has_enough(const SamplerOptions *extent, const Steps *steps, int64_t done)
{
    return done >= extent->steps && (!(extent->until > 0) || steps->tight);
}

/* The first sample is the first step of the process. */
static bool is_cold(const SamplerOptions *extent, int64_t i)
{
    return i == 0 && extent->from_first && extent->warmup == 0;
}

static Status phase_loop(const SamplerDevice *device, Mode mode, const SamplerOptions *extent,
                         const SamplerSink *sink, Steps *steps)
{
    /* Where whole steps have a loop of their own, that one looks at the interval. */
    const bool halved = device->queued && !extent->from_first;
    const Span span = {clock_seconds(), halved ? extent->seconds / 2 : extent->seconds};
    SamplerOptions own = *extent;
    if (halved) own.until = 0;
    for (int64_t i = 0; !has_enough(&own, steps, i) && !is_over(&span, i, SAMPLER_MIN_SAMPLES);
         i++) {
        TRY(sink->stage(sink->self, "step", i + 1, at_least(extent->steps, i + 1)));
        Sample sample;
        TRY(step_by_phases(device, mode, &sample));
        TRY(add_step(steps, &own, sample.seconds[SAMPLE_STEP]));
        if (is_cold(extent, i)) TRY(sink->cold(sink->self, sample.seconds[SAMPLE_STEP]));
        if (halved) sample.seconds[SAMPLE_STEP] = NAN;
        TRY(sink->sample(sink->self, &sample));
    }
    return ST_OK;
}

static Status sample_phases(const SamplerDevice *device, Mode mode, const SamplerOptions *extent,
                            const SamplerSink *sink)
{
    Steps steps = {0};
    const Status status = phase_loop(device, mode, extent, sink, &steps);
    sample_list_free(&steps.list);
    return status;
}

static Status step_loop(const SamplerDevice *device, const SamplerOptions *extent,
                        const SamplerSink *sink, Steps *steps)
{
    const Span span = {clock_seconds(), extent->seconds / 2};
    for (int64_t i = 0; !has_enough(extent, steps, i) && !is_over(&span, i, SAMPLER_MIN_SAMPLES);
         i++) {
        TRY(sink->stage(sink->self, "unbroken step", i + 1, at_least(extent->steps, i + 1)));
        Sample sample;
        TRY(step_unbroken(device, &sample));
        TRY(add_step(steps, extent, sample.seconds[SAMPLE_STEP]));
        if (is_cold(extent, i)) TRY(sink->cold(sink->self, sample.seconds[SAMPLE_STEP]));
        TRY(sink->sample(sink->self, &sample));
    }
    return ST_OK;
}

static Status sample_steps(const SamplerDevice *device, const SamplerOptions *extent,
                           const SamplerSink *sink)
{
    Steps steps = {0};
    const Status status = step_loop(device, extent, sink, &steps);
    sample_list_free(&steps.list);
    return status;
}

Status sampler_run(const SamplerDevice *device, Mode mode, const SamplerOptions *extent,
                   const SamplerSink *sink)
{
    TRY(warm_up(device, extent, sink));
    if (extent->from_first)
        return extent->by_phase ? sample_phases(device, mode, extent, sink)
                                : sample_steps(device, extent, sink);
    TRY(sample_phases(device, mode, extent, sink));
    return device->queued ? sample_steps(device, extent, sink) : ST_OK;
}
