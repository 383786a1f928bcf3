/* bench --dry-run: every cell, what it would take, and nothing run. */
#pragma once

#include "bench/record/record_set.h"
#include "cli/command.h"

Status bench_dry_run(const Settings *settings, const Sweep *sweep, const RecordSet *known);
