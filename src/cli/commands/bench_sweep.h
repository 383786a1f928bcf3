/* Runs the sweep of `bench` and `attention`: options -> cells -> results. */
#ifndef CLI_COMMANDS_BENCH_SWEEP_H
#define CLI_COMMANDS_BENCH_SWEEP_H

#include "cli/command.h"

/* Command.run of both. */
Status bench_sweep_run(const Settings *settings, const Sweep *sweep, int *exit_code);

/* Options of a sweep beside those that make its cells. */
#define BENCH_SWEEP_OPTIONS                                                                    \
    (OPTIONS_OUTPUT | OPTION_BIT(MEMORY_LIMIT) | OPTION_BIT(TIMEOUT) | OPTION_BIT(DRY_RUN) |   \
     OPTION_BIT(LIMITS) | OPTION_BIT(OUT_JSON) | OPTION_BIT(BASELINE) | OPTION_BIT(RESUME) |   \
     OPTION_BIT(SAMPLE_TIME) | OPTION_BIT(UNTIL) | OPTION_BIT(STAT) | OPTION_BIT(INTERLEAVE) | \
     OPTION_BIT(ROUNDS))

#endif
