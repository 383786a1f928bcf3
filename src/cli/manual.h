/* The manual page, from the tables that parse: `roofstep help man`. */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "base/text.h"

/* In man's macros, for `man -l`. */
void manual_write(Text *out);

#endif
