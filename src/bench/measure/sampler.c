#include "bench/measure/sampler.h"

#include "base/clock.h"
#include "base/i64.h"

#include <math.h>

_Static_assert(SAMPLE_FORWARD == 0 && PHASE_BACKWARD - PHASE_FORWARD == SAMPLE_BACKWARD &&
                   PHASE_OPTIMIZER - PHASE_FORWARD == SAMPLE_OPTIMIZER,
               "series i is the phase PHASE_FORWARD + i");

int sampler_phases(Mode mode)
{
    return !config_mode_has_backward(mode) ? 1 : mode == MODE_FWD_BWD ? 2 : 3;
}

static bool is_queued(const Sampler *s)
{
    return s->api->mark != NULL;
}

/* Runs one phase, or the whole step (PHASE_COUNT); its time by the device's clock goes to `gpu` where
 * there is one. */
static Status run_marked(const Sampler *s, Phase phase, double *gpu)
{
    const bool whole = phase == PHASE_COUNT, queued = is_queued(s);
    if (queued) TRY(s->api->mark(s->backend, 0));
    TRY(whole ? s->step(s->self) : s->run(s->self, phase));
    if (queued) TRY(s->api->mark(s->backend, 1));
    if (queued || whole) TRY(s->api->sync(s->backend));
    return queued ? s->api->elapsed(s->backend, 0, 1, gpu) : ST_OK;
}

/* What a series has so far in this sample. */
static void add_seconds(double *sum, double seconds)
{
    *sum = isnan(*sum) ? seconds : *sum + seconds;
}

/* Runs phases [first, last) and adds their times; `before` is when the first begins, then when the last
 * has ended. */
static Status time_phases(const Sampler *s, int first, int last, double *before, Sample *sample)
{
    for (int i = first; i < last; i++) {
        double gpu = NAN;
        TRY(run_marked(s, (Phase)(PHASE_FORWARD + i), &gpu));
        const double now = clock_seconds();
        add_seconds(&sample->seconds[i], now - *before);
        if (is_queued(s)) add_seconds(&sample->seconds[SAMPLE_WALL_COUNT + i], gpu);
        *before = now;
    }
    return ST_OK;
}

/* One step with a reading of the clock after each phase; those of micro-batches are added up. */
static Status step_by_phases(const Sampler *s, Mode mode, int64_t micro_batches, Sample *sample)
{
    *sample = sample_empty();
    const int phases = sampler_phases(mode);
    const int passes = phases < SAMPLE_OPTIMIZER ? phases : SAMPLE_OPTIMIZER;
    const double start = clock_seconds();
    double before = start;
    for (int64_t i = 0; i < i64_max(micro_batches, 1); i++)
        TRY(time_phases(s, SAMPLE_FORWARD, passes, &before, sample));
    TRY(time_phases(s, SAMPLE_OPTIMIZER, phases, &before, sample));
    sample->seconds[SAMPLE_STEP] = before - start;
    return ST_OK;
}

/* One step as a training loop runs it: nobody waits between phases. */
static Status step_unbroken(const Sampler *s, Sample *sample)
{
    *sample = sample_empty();
    const double start = clock_seconds();
    TRY(run_marked(s, PHASE_COUNT, &sample->seconds[SAMPLE_GPU_STEP]));
    sample->seconds[SAMPLE_STEP] = clock_seconds() - start;
    return ST_OK;
}

static bool is_over(double start, double seconds, int64_t done, int64_t least)
{
    return seconds > 0 && done >= least && clock_seconds() - start >= seconds;
}

static Status warm_up(const Sampler *s, const Config *config)
{
    const double start = clock_seconds(), seconds = config_sample_seconds(config) / 2;
    const int64_t n = config->from_first ? config->warmup : i64_max(config->warmup, 1);
    for (int64_t i = 0; i < n; i++) {
        bool goes_on = !is_over(start, seconds, i, 1);
        if (s->agree) TRY(s->agree(s->self, &goes_on));
        if (!goes_on) break;
        TRY(s->stage(s->self, i == 0 ? "first step" : "warm-up", i + 1, n));
        Sample sample;
        TRY(step_unbroken(s, &sample));
        if (i == 0) TRY(s->cold(s->self, sample.seconds[SAMPLE_STEP]));
    }
    return ST_OK;
}

/* The whole steps of one loop, where --until looks at their interval. It is computed again when a
 * sixteenth more have come: finding ranks takes time in proportion to their number. */
typedef struct Steps {
    SampleList list;
    int next_look;
    bool tight; /* the interval is, or nobody looks at it */
} Steps;

static void steps_free(Steps *steps)
{
    sample_list_free(&steps->list);
}

static Status add_step(Steps *steps, const Config *config, double seconds)
{
    if (steps->tight) return ST_OK;
    TRY(sample_list_add(&steps->list, seconds));
    const int n = steps->list.n;
    if (n < SAMPLER_MIN_SAMPLES || n < config->steps || n < steps->next_look) return ST_OK;
    steps->next_look = n + 1 + n / 16;
    steps->tight = sample_list_interval(&steps->list, config->stat) <= config->until;
    return ST_OK;
}

/* `by_phase` NULL: unbroken steps. */
static Status take_samples(const Sampler *s, const Mode *by_phase, const Config *config)
{
    const bool steps_apart =
        by_phase && is_queued(s) && !config->from_first; /* in the other loop */
    const bool halved = !by_phase || steps_apart;
    const bool cold = config->from_first && config->warmup == 0;
    const double start = clock_seconds(),
                 seconds = config_sample_seconds(config) / (halved ? 2 : 1);
    CLEANUP(steps_free) Steps steps = {.tight = steps_apart || !(config->until > 0)};
    for (int64_t i = 0;; i++) {
        Sample sample;
        bool goes_on =
            (i < config->steps || !steps.tight) && !is_over(start, seconds, i, SAMPLER_MIN_SAMPLES);
        if (s->agree) TRY(s->agree(s->self, &goes_on));
        if (!goes_on) break;
        TRY(s->stage(s->self, by_phase ? "step" : "unbroken step", i + 1,
                     i64_max(config->steps, i + 1)));
        TRY(by_phase ? step_by_phases(s, *by_phase, config->accumulate, &sample)
                     : step_unbroken(s, &sample));
        TRY(add_step(&steps, config, sample.seconds[SAMPLE_STEP]));
        if (i == 0 && cold) TRY(s->cold(s->self, sample.seconds[SAMPLE_STEP]));
        if (steps_apart) sample.seconds[SAMPLE_STEP] = NAN;
        TRY(s->sample(s->self, &sample));
    }
    return ST_OK;
}

Status sampler_run(const Sampler *s, Mode mode, const Config *config)
{
    TRY(warm_up(s, config));
    if (config->from_first) return take_samples(s, config->by_phase ? &mode : NULL, config);
    TRY(take_samples(s, &mode, config));
    return is_queued(s) ? take_samples(s, NULL, config) : ST_OK;
}
