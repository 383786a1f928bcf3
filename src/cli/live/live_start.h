/* One start of one side of compare --live. */
#pragma once

#include "cli/live/live.h"

/* Makes the words of a side: a program, or a program and words for it with blanks between, and then
 * `words`. ST_USAGE: there is no such program, no command, or an option that says where the result
 * goes. */
Status live_start_init(LiveSide *side, const char *name, const char *command,
                       const char *const *words, int n);
void live_start_free(LiveSide *side);

/* Runs it and reads its result. ST_FAILED: it failed, or a cell was not measured; ST_INTERRUPTED:
 * Ctrl-C. With `profile` the command `bench` is replaced by `profile`; ST_UNSUPPORTED: it is none. */
Status live_start_run(const LiveSide *side, const char *name, bool profile, RecordSet *rows);
