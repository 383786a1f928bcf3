/* Commands that measured nothing, and why: what they were to fill stays empty, and the page says so. */
#pragma once

#include "report/findings/result_input.h"

/* Appends {command, why} for each kind of rows that no file has a measured one of. */
Status missing_results_add(json_t *gaps, const ResultInput *files, int n);
/* The sentence about a {part, command, why} of a suite: it left no file, or, with "cut_short",
 * not all of its cells were measured. */
void missing_results_sentence(Text *out, const json_t *gap);
