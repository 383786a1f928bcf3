/* Plans for a machine that is not here: by its limits (--limits FILE), and without a GPU to ask. */
#ifndef CLI_ELSEWHERE_H
#define CLI_ELSEWHERE_H

#include "bench/placement.h"
#include "config/settings.h"
#include "report/table.h"

#include <jansson.h>

/* ST_USAGE: --limits without the option that runs nothing. */
Status elsewhere_check(const Settings *settings, bool runs_nothing, const char *option);

/* *machine is `limits`, filled from --limits, or NULL without that option. */
Status elsewhere_read(const Settings *settings, Limits *limits, const Limits **machine);

/* Under a table of plans: whose machine they are for, and what is from a table instead of a device. */
void elsewhere_note(Table *table, const Placement *placement, const Limits *machine);
/* The same in a plan's object. */
Status elsewhere_json(json_t *json, const Placement *placement, const Limits *machine);

#endif
