#include "bench/estimate/fp8_memory.h"

#include "base/array.h"

#include <stdlib.h>

/* Where a tensor that owns memory is written first and read last. */
typedef struct Life {
    bool made, read; /* in the forward pass; in backward */
} Life;

static void note_made(const Plan *plan, const Node *node, Life *lives)
{
    for (int i = 0; i < node->n_out; i++) {
        const int id = plan_out_id(plan, node, i);
        if (id != PLAN_NONE && node->phase == PHASE_FORWARD)
            lives[plan_storage(plan, id)].made = true;
    }
}

static void note_read(const Plan *plan, const Node *node, Life *lives)
{
    for (int i = 0; i < node->n_in; i++) {
        const int id = plan_in_id(plan, node, i);
        if (id != PLAN_NONE && node->phase == PHASE_BACKWARD)
            lives[plan_storage(plan, id)].read = true;
    }
}

static Status find_kept(Fp8Kept *kept, const Plan *plan, const MemPlan *mem)
{
    CLEANUP(array_free) Life *lives = calloc((size_t)plan->n_tensors + 1, sizeof *lives);
    if (!lives) return NO_MEMORY("for %d tensors", plan->n_tensors);
    for (int i = 0; i < plan->n_nodes; i++) {
        note_made(plan, &plan->nodes[i], lives);
        note_read(plan, &plan->nodes[i], lives);
    }
    *kept = (Fp8Kept){.planned = mem_plan_total(mem)};
    for (int i = 0; i < plan->n_tensors; i++) {
        const Tensor *t = &plan->tensors[i];
        if (!lives[i].made || !lives[i].read || plan_kind_persistent(t->kind)) continue;
        *(t->kind == TK_QUANTIZED ? &kept->weights : &kept->activations) += plan_storage_bytes(t);
    }
    return ST_OK;
}

Status fp8_memory_make(Fp8Memory *memory, const Placement *placement, const Config *config,
                       const Plan *plan, const MemPlan *mem)
{
    CLEANUP(model_free) Model model = {0};
    CLEANUP(binding_free) Binding binding = {0};
    Config bf16 = *config;
    *memory = (Fp8Memory){.known = config->precision == PRECISION_FP8 &&
                                   config_mode_has_backward(config->mode)};
    if (!memory->known) return ST_OK;
    bf16.precision = PRECISION_BF16;
    TRY(placement_plan(placement, &bf16, bf16.mode, &model, &binding));
    TRY(find_kept(&memory->bf16, &model.plan, &binding.mem));
    return find_kept(&memory->fp8, plan, mem);
}
