/* Values of options that are one of some words, or a number. ST_USAGE names what they may be; the bounds
 * of a number are the caller's. */
#pragma once

#include "base/status.h"

#include <stdint.h>

Status option_forms_scale(const char *s, double *out);   /* CONFIG_SCALE_* or a number above 0 */
Status option_forms_routing(const char *s, double *out); /* CONFIG_ROUTING_* or a number above 1 */
Status option_forms_recompute(const char *s,
                              int64_t *out); /* CONFIG_RECOMPUTE_* or a number above 0 */
Status option_forms_linears(const char *s,
                            int64_t *out); /* CONFIG_LINEARS_* or a set of linear layers */
