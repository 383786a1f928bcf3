/* What the page's script draws, as JSON. */
#pragma once

#include "report/page/page_parts.h"

/* A new reference to
 *
 *   {program: {version, commit, command}, summary: [line, ...],
 *    files: [{name, rows: {model: [record, ...], ...}, labels: {model: [text, ...], ...},
 *             commands: [{command, machine, time_utc}, ...],
 *             memory: of page_memory_timelines(), or null, layer: of layer_timeline_make(), or null}, ...],
 *    tables: [{section, title, columns: [{label, right}, ...], rows: [[text, ...], ...],
 *              notes: [{text, code}, ...]}, ...]} */
Status page_data_make(json_t **out, const PageInput *input);
