/* Steps, timed: the first one apart, then warm-up, then samples.
 *
 * The very first step is cold whatever the warm-up (pages are touched, libraries set themselves up),
 * so it is never a sample: with --warmup 0 it still comes first, otherwise it is the first step of
 * the warm-up. */
#pragma once

#include "backend/backend.h"
#include "bench/measure/sample.h"

/* What is timed, and who is told. Knows no session, so that the order of things can be tested without
 * one.
 *
 * Where the device queues work (BackendApi.mark is there: a GPU), phases are timed with a wait after
 * each, and whole steps in a second loop without; both also by the device's own clock. Otherwise both
 * come from the same steps. */
typedef struct Sampler {
    void *self;
    const BackendApi *api; /* of the device: sync, mark and elapsed */
    Backend *backend;
    Status (*run)(void *self, Phase phase);
    Status (*step)(void *self); /* all phases of the mode, without a wait between them */
    Status (*stage)(void *self, const char *what, int64_t done, int64_t of);
    Status (*cold)(void *self, double seconds);
    Status (*sample)(void *self, const Sample *sample);
    /* Where several ranks run the step, all go on or none does. NULL: there is one. */
    Status (*agree)(void *self, bool *goes_on);
} Sampler;

enum { SAMPLER_MIN_SAMPLES = 3 };

/* How many phases a step of this mode has. */
int sampler_phases(Mode mode);

/* A loop over samples ends after config->steps of them, or when its share of config_sample_seconds()
 * (0: no limit) has passed and it has SAMPLER_MIN_SAMPLES; a warm-up likewise, with half the time. With
 * config->until the loop over whole steps goes on until the 95 % interval of config->stat is within this
 * share of it, or the time is up.
 *
 * config->from_first, for the effect of a warm-up: the first step is not kept apart, so that without a
 * warm-up the cold one is the first sample. There is one loop, over whole steps or with config->by_phase
 * over steps with a wait after each phase, because only one loop can have the cold step. */
Status sampler_run(const Sampler *sampler, Mode mode, const Config *config);
