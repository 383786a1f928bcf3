/* Runs the sweep of `bench` and `attention`: options -> cells -> results. */
#pragma once

#include "cli/command.h"

/* Command.run of both. */
Status bench_sweep_run(const Settings *settings, const Sweep *sweep, int *exit_code);

/* Options of a sweep beside those that make its cells. */
#define BENCH_SWEEP_OPTIONS                                                              \
    OPTIONS_OUTPUT, OPTION_MEMORY_LIMIT, OPTION_TIMEOUT, OPTION_DRY_RUN, OPTION_LIMITS,  \
        OPTION_GPU, OPTION_OUT_JSON, OPTION_BASELINE, OPTION_RESUME, OPTION_SAMPLE_TIME, \
        OPTION_UNTIL, OPTION_STAT, OPTION_INTERLEAVE, OPTION_ROUNDS
