#include "bench/estimate/plan_cell.h"

#include "bench/estimate/fit.h"
#include "bench/estimate/recompute_fit.h"
#include "bench/estimate/time_estimate.h"
#include "exec/step_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one plan ---- */

static Status find_peak(PlanMemory *memory, const Binding *binding)
{
    const int peak = binding->mem.peak_node;
    const Node *node = &binding->plan->nodes[peak];
    size_t *live = NULL;
    TRY(mem_plan_timeline(&binding->mem, binding->plan, binding->workspace, &live));
    memcpy(memory->kind, live + (size_t)peak * TK_COUNT, sizeof memory->kind);
    free(live);
    memory->peak_live = binding->mem.peak_live;
    memory->planned = mem_plan_total(&binding->mem);
    memory->peak_phase = node->phase;
    memory->peak_op = node->op;
    snprintf(memory->peak_scope, sizeof memory->peak_scope, "%s", node->scope);
    return ST_OK;
}

static Status look_ahead(TimeEstimate *outlook, const PlanCell *cell, const Limits *machine,
                         const Plan *plan)
{
    if (!machine) return time_estimate_make(outlook, cell->config, &cell->placement, plan);
    *outlook =
        time_estimate_by(machine, (size_t)machine->cache_bytes, cell->config->precision, plan);
    return ST_OK;
}

static Status describe(PlanCell *cell, const Limits *machine, const Model *model,
                       const Binding *binding)
{
    TimeEstimate outlook;
    cell->attention = model->attention;
    cell->parameters = model->n_elements;
    cell->model_flops = model_flops(model);
    cell->again_flops = model_flops_recomputed(model);
    cell->cost = step_cost_of(&model->plan);
    TRY(look_ahead(&outlook, cell, machine, &model->plan));
    cell->roof_seconds = outlook.roof_seconds;
    return find_peak(&cell->memory, binding);
}

/* `--recompute auto` as within the first limit. */
static Status settle(const PlanCell *cell, Config *settled)
{
    const size_t beside = fit_allowance(&cell->placement) + cell->memory.held;
    const size_t limit = cell->fits[0].limit;
    if (cell->n_fits == 0) TRY(fit_check_recompute(cell->config));
    return recompute_fit(cell->config, &cell->placement, cell->config->mode,
                         limit > beside ? limit - beside : 0, settled);
}

static Status plan_step(PlanCell *cell, const Limits *machine)
{
    Model model;
    Binding binding;
    Config settled;
    TRY(settle(cell, &settled));
    TRY(step_plan_make(&model, &binding, &settled, settled.mode, cell->placement.backend,
                       cell->placement.capability, cell->placement.threads));
    const Status status = describe(cell, machine, &model, &binding);
    binding_free(&binding);
    model_free(&model);
    return status;
}

/* ---- what fits ---- */

static Status find_needs(PlanCell *cell)
{
    PlanMemory *memory = &cell->memory;
    const Mode asked = cell->config->mode;
    memory->allowance = fit_allowance(&cell->placement);
    memory->need[asked] = memory->planned + memory->allowance + memory->held;
    for (int mode = 0; mode < (int)asked; mode++) {
        TRY(what_fits_need(cell->config, &cell->placement, (Mode)mode, memory->held,
                           &memory->need[mode]));
    }
    return ST_OK;
}

static Status find_limits(PlanCell *cell, const PlanRoom *room)
{
    size_t available = 0;
    cell->n_fits = room->n_limits;
    for (int i = 0; i < room->n_limits; i++) cell->fits[i].limit = (size_t)room->limits[i];
    if (room->n_limits) return ST_OK;
    if (cell->placement.here)
        TRY(fit_available(cell->config, &cell->placement, cell->memory.held, &available));
    else if (room->machine)
        available = (size_t)room->machine->memory_bytes;
    cell->n_fits = available > 0;
    cell->fits[0].limit = available;
    return ST_OK;
}

static Status place(PlanCell *cell, const Limits *machine)
{
    return machine ? placement_elsewhere(cell->config, machine, &cell->placement)
                   : placement_of(cell->config, &cell->placement);
}

static Status fill(PlanCell *cell, const PlanRoom *room)
{
    TRY(place(cell, room->machine));
    TRY(find_limits(cell, room));
    TRY(plan_step(cell, room->machine));
    TRY(find_needs(cell));
    if (cell->n_fits == 0) return ST_OK;
    return what_fits(cell->config, &cell->placement, cell->memory.held, cell->memory.need,
                     cell->fits, cell->n_fits);
}

Status plan_cell_make(PlanCell *cell, const Config *config, const PlanRoom *room)
{
    *cell = (PlanCell){.config = config, .memory.held = room->held};
    const Status status = fill(cell, room);
    if (status != ST_UNSUPPORTED) return status;
    *cell = (PlanCell){.config = config, .unsupported = true};
    snprintf(cell->message, sizeof cell->message, "%s", status_message());
    return ST_OK;
}
