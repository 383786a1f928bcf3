/* Figures that must add up to a total. */
#pragma once

#include "base/status.h"

#include <jansson.h>

/* The members of object[name] that end in _mib add up to the figure at the path `total` of the object. */
Status validate_sum_mib(const json_t *object, const char *name, const char *total);
bool validate_sum_equal(double a, double b); /* to about six digits */
