/* `precision --curve N --peer torch`: what another program needs to follow the same curve. */
#pragma once

#include "bench/cell/runner.h"
#include "bench/study/curve_text.h"
#include "config/settings.h"

/* ST_USAGE: no such peer or variant. */
Status curve_peer_check(const Settings *settings, const Config *cell);

/* Puts the peer into the task: before its first cell a temporary file is written in TMPDIR (or /tmp), from
 * which all its cells start. curve_peer_end() removes it, after a failure too. Nothing without --peer. */
Status curve_peer_begin(RunnerTask *task, const Settings *settings, CurveText *text);
void curve_peer_end(void);
