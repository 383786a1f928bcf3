/* A summary of result files in a few sentences. */
#pragma once

#include "report/findings/result_input.h"

/* Appends a string to the array for each thing worth a line: how many cells ended how, what else
 * had the processors interference, the fastest and the slowest, the nearest to and the furthest
 * from the machine's limit, where the time and the memory go, attention against its slowest
 * implementation, what to change first. */
Status summary_add(json_t *lines, const ResultInput *files, int n);
