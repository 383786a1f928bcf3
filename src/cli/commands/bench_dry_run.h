/* bench --dry-run: every cell, what it would take, and nothing run. */
#ifndef CLI_COMMANDS_BENCH_DRY_RUN_H
#define CLI_COMMANDS_BENCH_DRY_RUN_H

#include "bench/record/record_set.h"
#include "cli/command.h"

Status bench_dry_run(const Settings *settings, const Sweep *sweep, const RecordSet *known);

#endif
