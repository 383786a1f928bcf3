/* Files of efficiencies, as roofstep forecast --fit writes them. */
#pragma once

#include "base/text.h"
#include "bench/forecast/efficiency.h"

Status efficiency_json_write(Text *out, const Efficiency *e);
/* ST_USAGE: names `path` and what is wrong. */
Status efficiency_json_read(Efficiency *e, const char *text, size_t n, const char *path);
Status efficiency_json_read_file(Efficiency *e, const char *path);

/* What the program brings along: the file in efficiency/, line by line, ended by NULL. */
Status efficiency_json_bundled(Efficiency *e);
extern const char *const efficiency_bundled[];
