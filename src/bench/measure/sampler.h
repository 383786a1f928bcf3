/* Steps, timed: the first one apart, then warm-up, then samples.
 *
 * The very first step is cold whatever the warm-up (pages are touched, libraries set themselves up),
 * so it is never a sample: with --warmup 0 it still comes first, otherwise it is the first step of
 * the warm-up. */
#pragma once

#include "bench/measure/sample.h"
#include "config/config.h"

/* What is timed. Knows no session, so that the order of things can be tested without one. */
typedef struct SamplerDevice {
    void *self;
    Status (*run)(void *self, Phase phase);
    Status (*step)(void *self); /* all phases of the mode, without a wait between them */
    Status (*sync)(void *self); /* waits until all work is done */
    /* The device's own clock: a point in its queue, and the time between points 0 and 1. NULL where
     * it has none. */
    Status (*mark)(void *self, int slot);
    Status (*elapsed)(void *self, double *seconds);
    /* run() only queues work (a GPU). Then phases are timed with a wait after each, and whole steps
     * in a second loop without. Otherwise both come from the same steps. */
    bool queued;
} SamplerDevice;

typedef struct SamplerSink {
    void *self;
    Status (*stage)(void *self, const char *what, int64_t done, int64_t of);
    Status (*cold)(void *self, double seconds);
    Status (*sample)(void *self, const Sample *sample);
} SamplerSink;

/* A loop over samples ends after `steps` of them, or when its share of `seconds` (0: no limit) has
 * passed and it has SAMPLER_MIN_SAMPLES; a warm-up likewise, with half the time. With `until` the
 * loop over whole steps goes on after `steps` until the 95 % interval of `stat` is within this
 * share of it, or `seconds` end it. */
typedef struct SamplerOptions {
    int64_t warmup, steps;
    double seconds;
    double until;
    Stat stat;
    /* For the effect of a warm-up: the first step is not kept apart, so that without a warm-up the
     * cold one is the first sample. There is one loop, over whole steps or with `by_phase` over
     * steps with a wait after each phase, because only one loop can have the cold step. */
    bool from_first, by_phase;
} SamplerOptions;

enum { SAMPLER_MIN_SAMPLES = 3 };

Status sampler_run(const SamplerDevice *device, Mode mode, const SamplerOptions *options,
                   const SamplerSink *sink);
