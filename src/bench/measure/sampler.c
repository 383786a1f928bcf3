#include "bench/measure/sampler.h"

#include "base/clock.h"
#include "base/i64.h"

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

static bool is_over(double start, double seconds, int64_t done, int64_t least)
{
    return seconds > 0 && done >= least && clock_seconds() - start >= seconds;
}

static Status warm_up(const SamplerDevice *device, const SamplerOptions *options,
                      const SamplerSink *sink)
{
    const double start = clock_seconds(), seconds = options->seconds / 2;
    const int64_t n = options->from_first ? options->warmup : i64_max(options->warmup, 1);
    for (int64_t i = 0; i < n && !is_over(start, seconds, i, 1); i++) {
        TRY(sink->stage(sink->self, i == 0 ? "first step" : "warm-up", i + 1, n));
        Sample sample;
        TRY(step_unbroken(device, &sample));
        if (i == 0) TRY(sink->cold(sink->self, sample.seconds[SAMPLE_STEP]));
    }
    return ST_OK;
}

/* The whole steps of one loop. Their interval is computed again when a sixteenth more have come:
 * finding ranks takes time in proportion to their number. */
typedef struct Steps {
    double until; /* the wanted interval; 0: none */
    SampleList list;
    int next_look;
    bool tight;
} Steps;

static Status add_step(Steps *steps, const SamplerOptions *options, double seconds)
{
    if (!(steps->until > 0)) return ST_OK;
    TRY(sample_list_add(&steps->list, seconds));
    const int n = steps->list.n;
    if (n < SAMPLER_MIN_SAMPLES || n < options->steps || n < steps->next_look) return ST_OK;
    steps->next_look = n + 1 + n / 16;
    steps->tight = sample_list_interval(&steps->list, options->stat) <= steps->until;
    return ST_OK;
}

static bool has_enough(const SamplerOptions *options, const Steps *steps, int64_t done)
{
    return done >= options->steps && (!(steps->until > 0) || steps->tight);
}

/* `steps_apart`: whole steps have a loop of their own, which looks at the interval. */
static Status sample_loop(const SamplerDevice *device, const Mode *by_phase, bool steps_apart,
                          const SamplerOptions *options, const SamplerSink *sink, Steps *steps)
{
    const bool halved = !by_phase || steps_apart;
    const double start = clock_seconds(), seconds = options->seconds / (halved ? 2 : 1);
    const bool cold = options->from_first && options->warmup == 0;
    for (int64_t i = 0;
         !has_enough(options, steps, i) && !is_over(start, seconds, i, SAMPLER_MIN_SAMPLES); i++) {
        TRY(sink->stage(sink->self, by_phase ? "step" : "unbroken step", i + 1,
                        i64_max(options->steps, i + 1)));
        Sample sample;
        TRY(by_phase ? step_by_phases(device, *by_phase, &sample) : step_unbroken(device, &sample));
        TRY(add_step(steps, options, sample.seconds[SAMPLE_STEP]));
        if (i == 0 && cold) TRY(sink->cold(sink->self, sample.seconds[SAMPLE_STEP]));
        if (steps_apart) sample.seconds[SAMPLE_STEP] = NAN;
        TRY(sink->sample(sink->self, &sample));
    }
    return ST_OK;
}

/* `by_phase` NULL: unbroken steps. */
static Status take_samples(const SamplerDevice *device, const Mode *by_phase,
                           const SamplerOptions *options, const SamplerSink *sink)
{
    const bool steps_apart = by_phase && device->queued && !options->from_first;
    Steps steps = {.until = steps_apart ? 0 : options->until};
    const Status status = sample_loop(device, by_phase, steps_apart, options, sink, &steps);
    sample_list_free(&steps.list);
    return status;
}

Status sampler_run(const SamplerDevice *device, Mode mode, const SamplerOptions *options,
                   const SamplerSink *sink)
{
    TRY(warm_up(device, options, sink));
    if (options->from_first)
        return take_samples(device, options->by_phase ? &mode : NULL, options, sink);
    TRY(take_samples(device, &mode, options, sink));
    return device->queued ? take_samples(device, NULL, options, sink) : ST_OK;
}
