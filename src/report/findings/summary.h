/* A summary of result files in a few sentences. */
#pragma once

#include "bench/record/comparison.h"
#include "report/findings/result_input.h"

/* Appends a string to the array for each thing worth a line: the number of cells by status, interference from
 * other programs, the fastest and the slowest cell, the closest to and the farthest from the machine's
 * limits, where time and memory go, attention against its slowest implementation, the biggest win. */
Status summary_add(json_t *lines, const ResultInput *files, int n);
/* The last of them: the option that shortens a step most, and the op with most to gain. */
Status advice_add(json_t *lines, const ResultInput *files, int n);
/* The same as a new reference to
 *
 *   {measured: rows with a step,
 *    wins: [{file, cell, field, value, shorter_percent, command}, ...] of cells that another choice
 *        makes faster,
 *    gaps: [{file, cell, op, phase, ms, least_ms, step_percent}, ...] of each profiled cell,
 *    compare: the command that looks for a win where fewer than two rows were measured, or null}
 *
 * `file` counts the files from 0, `cell` is the row's. */
Status advice_json(json_t **out, const ResultInput *files, int n);

/* Of rows with profiles the op with most to gain; where limits are not known, the one that takes most. */
Status advice_put_gap(Text *out, const RecordSet *rows);
/* Appends ": 3 phases faster, 1 phase same". */
void summary_put_verdicts(Text *out, const Comparison *comparison);
