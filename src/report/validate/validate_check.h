/* Checks that several kinds of files share: figures that add up, every item of a list. */
#pragma once

#include "base/status.h"

#include <jansson.h>

/* Runs `check` on every item of an array; a failure says which: "cell 2: ...". */
Status validate_check_each(const json_t *list, const char *what,
                           Status (*check)(const json_t *item));

/* The members of object[name] that end in _mib add up to the figure at the path `total` of the object. */
Status validate_check_mib(const json_t *object, const char *name, const char *total);
bool validate_check_equal(double a, double b); /* to about six digits */
