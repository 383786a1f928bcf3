/* A cell that is planned and not run: what it was asked for, under the names that results have
 * (config/cell_fields.def). */
#pragma once

#include "bench/limits/placement.h"
#include "bench/record/record.h"
#include "config/sweep.h"
#include "model/model.h"
#include "report/format/table.h"

/* The cell with what it uses where it was left to the program: device, threads, attention. */
Config planned_config_used(const Config *config, const Placement *placement, Attention attention);
/* `attention` is what --attention auto became. `unsupported` says why there is no placement; NULL:
 * there is one. */
Status planned_config_json(json_t *json, const Config *config, const Placement *placement,
                           Attention attention, const char *unsupported);

/* Puts bytes as MiB. */
Status planned_config_put_mib(json_t *json, const char *path, size_t bytes);

/* Adds a note to a table: what all cells of the sweep have in common, of what decides a plan. `config` is
 * a cell of the sweep. `placement` is NULL where it cannot run; otherwise `attention` is what `auto`
 * became. */
void planned_config_note(Table *table, const Sweep *sweep, const Config *config,
                         const Placement *placement, Attention attention);
/* Adds a note where the logits come in chunks: how many, and what that saves. */
void planned_config_head_note(Table *table, const HeadChunks *head);
/* Which linear layers fp8 leaves in bf16, if any. */
void planned_config_fp8_note(Table *table, const char *left);
/* Puts the same numbers. */
Status planned_config_head_json(json_t *json, const HeadChunks *head);
/* Adds the row of a cell that cannot run, and why as a note. */
void planned_config_unsupported(Table *table, const char *label, const char *why);
