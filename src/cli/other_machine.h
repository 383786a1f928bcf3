/* Plans for another machine: by its limits (--limits FILE) or a GPU's data sheet (--gpu NAME), without the
 * GPU. */
#pragma once

#include "bench/limits/placement.h"
#include "config/settings.h"
#include "report/format/table.h"

#include <jansson.h>

/* ST_USAGE: one of them without the option that runs nothing. */
Status other_machine_check(const Settings *settings, bool runs_nothing, const char *option);

/* *machine is `limits`, filled from them, or NULL without these options. */
Status other_machine_read(const Settings *settings, Limits *limits, const Limits **machine);

/* Adds notes to a table of plans: the machine, and what comes from a table instead of the device. */
void other_machine_note(Table *table, const Placement *placement, const Limits *machine);
/* Of a GPU: what its memory is less. */
void other_machine_memory_note(Table *table, const Limits *machine);
/* The same in a plan's object. */
Status other_machine_json(json_t *json, const Placement *placement, const Limits *machine);
