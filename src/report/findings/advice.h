/* Advice from results: the option that shortens a step most, and the op with most to gain. */
#pragma once

#include "report/findings/result_input.h"

/* Appends its lines to the array; none where nothing can be said. */
Status advice_add(json_t *lines, const ResultInput *files, int n);
