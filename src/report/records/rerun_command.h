/* The command line that measures again what another has measured. */
#pragma once

#include "base/text.h"

/* Appends the command without --resume FILE, which would find its rows there and measure nothing. `suite
 * --resume DIR` stays: without it, it would be another suite. */
void rerun_command(Text *out, const char *command);
