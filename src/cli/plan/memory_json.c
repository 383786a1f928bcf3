#include "base/array.h"
#include "base/json_text.h"
#include "cli/other_machine.h"
#include "cli/output.h"
#include "cli/plan/memory_output.h"
#include "cli/plan/planned_config.h"

#include <stdio.h>

/* {"total_mib": ..., "parameters_mib": ..., "node": ..., "scope": ...} under `name`. */
static Status put_moment(json_t *json, const char *name, const MemoryMoment *moment,
                         const Plan *plan)
{
    json_t *value = json_object();
    if (json_object_set_new(json, name, value)) return NO_MEMORY("for the result as JSON");
    if (moment->node == PLAN_NONE) return ST_OK;
    TRY(planned_config_put_mib(value, "total_mib", moment->total));
    for (int u = 0; u < MEMORY_COUNT; u++)
        TRY(planned_config_put_mib(value, memory_blocks_class_field((MemoryClass)u).s,
                                   moment->usage[u]));
    if (!plan) return ST_OK;
    const Node *node = &plan->nodes[moment->node];
    TRY(record_put_int(value, "node", moment->node));
    TRY(record_put_text(value, "phase", plan_phase_name(node->phase)));
    TRY(record_put_text(value, "scope", node->scope));
    return record_put_text(value, "op", plan_op_name(node->op));
}

/* ---- a single cell ---- */

static Status put_phases(json_t *json, const MemoryProfile *p)
{
    static const char *const steps[MEMORY_STEPS] = {"first_step", "later_steps"};
    for (int step = 0; step < MEMORY_STEPS; step++) {
        json_t *phases = json_object();
        if (json_object_set_new(json, steps[step], phases))
            return NO_MEMORY("for the result as JSON");
        for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
            const MemoryMoment *moment = &p->peak[step][phase];
            if (moment->node == PLAN_NONE) continue;
            TRY(put_moment(phases, plan_phase_name((Phase)phase), moment, &p->blocks.model->plan));
        }
    }
    return ST_OK;
}

static Status put_layer(json_t *json, const MemoryLayer *layer)
{
    TRY(record_put_int(json, "block.layer", layer->layer));
    TRY(planned_config_put_mib(json, "block.saved_mib", layer->saved));
    TRY(planned_config_put_mib(json, "block.weight_gradients_mib", layer->weight_gradients));
    TRY(planned_config_put_mib(json, "block.activation_gradients_mib",
                               layer->activation_gradients));
    return planned_config_put_mib(json, "block.recomputed_mib", layer->recomputed);
}

static Status put_shape(json_t *json, const Tensor *t)
{
    json_t *shape = json_array();
    for (int i = 0; i < t->n_dims; i++) {
        if (json_array_append_new(shape, json_integer(t->dim[i])))
            return NO_MEMORY("for the result as JSON");
    }
    if (json_object_set_new(json, "shape", shape)) return NO_MEMORY("for the result as JSON");
    return record_put_text(json, "dtype", plan_dtype_name(t->dtype));
}

/* Birth and death are numbers of nodes. */
static Status put_block(json_t *json, const MemoryBlocks *list, const MemoryBlock *b)
{
    const Node *node = memory_blocks_node(list, b);
    const OpSource source = memory_blocks_source(list, b);
    TRY(record_put_text(json, "name", memory_blocks_name(list, b).s));
    TRY(record_put_text(json, "use", memory_blocks_class_name(b->usage)));
    TRY(record_put_int(json, "bytes", (int64_t)b->bytes));
    TRY(record_put_int(json, "address", (int64_t)b->address));
    TRY(record_put_int(json, "born", b->first));
    TRY(record_put_int(json, "died", b->last));
    if (json_object_set_new(json, "persistent", json_boolean(b->persistent)))
        return NO_MEMORY("for the result as JSON");
    if (b->tensor != PLAN_NONE) TRY(put_shape(json, &list->model->plan.tensors[b->tensor]));
    TRY(record_put_text(json, "source", source.file));
    TRY(record_put_int(json, "line", source.line));
    if (!node) return ST_OK;
    TRY(record_put_text(json, "op", plan_op_name(node->op)));
    TRY(record_put_text(json, "phase", plan_phase_name(node->phase)));
    TRY(record_put_text(json, "scope", node->scope));
    return node->layer == PLAN_NONE ? ST_OK : record_put_int(json, "layer", node->layer);
}

static Status put_blocks(json_t *json, const MemoryBlocks *list)
{
    json_t *blocks = json_array();
    if (json_object_set_new(json, "blocks", blocks)) return NO_MEMORY("for the result as JSON");
    for (int i = 0; i < list->n; i++) {
        json_t *block = json_object();
        if (json_array_append_new(blocks, block)) return NO_MEMORY("for the result as JSON");
        TRY(put_block(block, list, &list->blocks[i]));
    }
    return ST_OK;
}

static Status put_profile(json_t *json, const MemoryCell *cell)
{
    const MemoryProfile *p = &cell->profile;
    TRY(planned_config_put_mib(json, "residual_stream_mib", p->stream));
    TRY(planned_config_head_json(json, &cell->model.head));
    TRY(put_phases(json, p));
    if (cell->config->mode != MODE_FWD) TRY(put_layer(json, &p->layer));
    for (int op = 0; op < OP_COUNT; op++) {
        char path[64];
        if (p->by_op[op] == 0) continue;
        snprintf(path, sizeof path, "activations_by_op.%s_mib", plan_op_name((OpKind)op));
        TRY(planned_config_put_mib(json, path, p->by_op[op]));
    }
    return put_blocks(json, &p->blocks);
}

/* ---- any cell ---- */

static Status put_ranks(json_t *json, const MemoryCell *cell)
{
    MemoryRanks ranks = {0};
    const Status status = memory_ranks_tables_of(&ranks, cell);
    CLEANUP(array_free) MemoryRank *list = ranks.list;
    json_t *array = json_array();
    TRY(status);
    if (json_object_set_new(json, "memory_ranks", array))
        return NO_MEMORY("for the result as JSON");
    for (int r = 0; r < ranks.n; r++) json_array_append_new(array, memory_rank_json(&list[r]));
    return ST_OK;
}

static Status put_cell(json_t *json, const MemoryCell *cell)
{
    TRY(planned_config_json(json, cell->config, &cell->placement, cell->attention,
                            cell->unsupported ? cell->message : NULL));
    if (cell->unsupported) return ST_OK;
    const Plan *plan = cell->model.plan.n_nodes ? &cell->model.plan : NULL; /* it is kept */
    TRY(other_machine_json(json, &cell->placement, cell->machine));
    TRY(record_put_int(json, "parameters", cell->parameters));
    TRY(record_put_int(json, "recomputed_blocks", cell->recomputed_blocks));
    TRY(planned_config_put_mib(json, "reserved_mib", cell->asked.reserved));
    TRY(planned_config_put_mib(json, "forward_reserved_mib", cell->forward.reserved));
    TRY(put_moment(json, "peak", &cell->asked.highest, plan));
    TRY(put_moment(json, "between_steps", &cell->asked.between, NULL));
    TRY(put_moment(json, "forward_peak", &cell->forward.highest, NULL));
    if (plan) TRY(put_profile(json, cell));
    if (cell->config->ranks > 1) TRY(put_ranks(json, cell));
    /* borrowed records: what was measured, as bench writes it */
    if (cell->measured && json_object_set(json, "measured", (json_t *)cell->measured))
        return NO_MEMORY("for the result as JSON");
    if (cell->measured_forward && cell->config->mode != MODE_FWD &&
        json_object_set(json, "measured_forward", (json_t *)cell->measured_forward))
        return NO_MEMORY("for the result as JSON");
    return ST_OK;
}

Status memory_json_write(Text *out, const MemoryCell *cells, int n, json_t *environment)
{
    json_t *list = json_array();
    CLEANUP(json_text_free)
    json_t *root =
        json_pack("{s:i, s:O, s:o}", "schema", 1, "environment", environment, "cells", list);
    if (!root) return NO_MEMORY("for the result as JSON");
    for (int i = 0; i < n; i++) {
        json_t *cell = json_object();
        if (json_array_append_new(list, cell)) return NO_MEMORY("for the result as JSON");
        TRY(put_cell(cell, &cells[i]));
    }
    return output_json(out, root);
}
