/* Result files as one HTML page that needs nothing else: no network, no server, no other file. */
#pragma once

#include "report/page/page_parts.h"

/* Whether this build can: the charts come from npm when it is built. */
bool page_is_built(void);
/* ST_UNSUPPORTED, and how to get it, where this build cannot. */
Status page_check_built(void);

Status page_write(Text *out, const PageInput *input);

/* What the page's script draws: a new reference to
 *
 *   {program: {version, commit, command}, summary: [line, ...], advice: of advice_json(),
 *    beside: [name of a file, ...], comparisons: of page_comparison_json(),
 *    multiplies: [category that the rate of matrix multiplications bounds, ...],
 *    files: [{name, rows: {model: [record, ...], ...}, labels: {model: [text, ...], ...},
 *             commands: [{command, machine, time_utc}, ...],
 *             limits: {device, rates: [{name, label, is_memory, rate}, ...]}, or null,
 *             memory: of page_memory_timelines(), or null, layer: of layer_timeline_make(), or null}, ...],
 *    tables: [{section, title, columns: [{label, right}, ...], rows: [[text, ...], ...],
 *              notes: [{text, code}, ...]}, ...]} */
Status page_data_make(json_t **out, const PageInput *input);
