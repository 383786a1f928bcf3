/* Whether any cell of those asked for can run: when none can, a command ends before it begins (exit
 * code 2), while a sweep with some that cannot has a row for each. */
#pragma once

#include "bench/cell/runner.h"

/* Before anything runs or is written. ST_UNSUPPORTED: no cell of the task can run here, none of
 * them is in what is resumed either; the message says why of the first. No device is opened so that
 * this process could not fork. */
Status supported_any(const RunnerTask *task);

/* Afterwards, for what only a run finds out. ST_UNSUPPORTED: every row says so. */
Status supported_rows(const RecordSet *rows);

/* The failure itself, of `n` cells; `why` is the first one's. */
Status supported_none(int n, const char *why);
