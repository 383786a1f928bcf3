/* The command line that measures one cell of a sweep again, or its neighbour. */
#pragma once

#include "base/text.h"
#include "bench/record/record.h"

/* Appends "roofstep bench" with the options of the row's cell that are not the defaults, where `field` has
 * another `value` than in the row; NULL: all as they are. Nothing of a row that is no cell. */
void cell_command(Text *out, const Record *record, const char *field, const char *value);
