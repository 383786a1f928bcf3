/* Where and how results were measured: the program, the machine, its libraries, the command line. */
#pragma once

#include "base/status.h"

#include <jansson.h>

/* A new reference. Names no host and no user. What cannot be read is null. `id` is a short hash of
 * the parts that do not change from run to run. `command` is the command line (settings.h). Starts
 * no threads. */
Status environment_new(json_t **out, const char *command);
