/* What compare --live found, for programs. */
#pragma once

#include "cli/live/live.h"

Status live_json_write(Text *out, const Live *live);
/* A row for each cell and phase. */
Status live_json_csv(Text *out, const Live *live);
