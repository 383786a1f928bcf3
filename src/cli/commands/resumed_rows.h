/* What the file of --resume has already. */
#pragma once

#include "bench/record/record_set.h"
#include "config/settings.h"

/* Adds its rows, and locks it where new ones are appended to it; nothing without --resume. A file that is not
 * there is no failure. ST_USAGE: it is a folder, or no result file. */
Status resumed_rows_read(RecordSet *known, const Settings *settings);
