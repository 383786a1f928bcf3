/* Files that have cells in common, for the charts of a page. */
#pragma once

#include "report/findings/result_input.h"

#include <jansson.h>

/* For each file that is compared with one before it, in their order, a new reference to
 *
 *   [{a, b, phases: [{label, phase, change, low, high, verdict}, ...]}, ...]
 *
 * in percent of the median of A; phases without an interval are left out. */
Status page_comparison_json(json_t **out, const ResultInput *files, int n);
