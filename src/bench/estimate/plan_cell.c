#include "bench/estimate/plan_cell.h"

#include "base/json_text.h"
#include "bench/estimate/fit.h"
#include "bench/estimate/time_estimate.h"
#include "bench/record/one_rank.h"

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

static Status describe(PlanCell *cell, const Limits *machine, const Model *model,
                       const Binding *binding)
{
    cell->attention = model->attention;
    cell->parameters = model->n_elements;
    cell->active_parameters = model_active_parameters(model);
    cell->head = model->head;
    snprintf(cell->fp8_left, sizeof cell->fp8_left, "%s", model->fp8.left);
    cell->cost = step_cost_of(&model->plan);
    plan_parts_of(&cell->parts, &model->plan);
    cell->roof_seconds =
        time_estimate_roofline(cell->config, &cell->placement, machine, &model->plan).roof_seconds;
    return find_peak(&cell->memory, binding);
}

/* What was measured of one rank: --step, or the row of a result file; 0: nothing. */
static Status single_step(const PlanCell *cell, const PlanRoom *room, double *seconds)
{
    CLEANUP(json_text_free) Record *like = NULL;
    Config used = placement_settle(cell->config, &cell->placement);
    double ms = 0;
    used.attention = cell->attention;
    *seconds = room->step;
    if (!room->rows) return ST_OK;
    TRY(record_new(&like, &used));
    if (one_rank_ms(room->rows, like, &ms)) *seconds = 1e-3 * ms;
    return ST_OK;
}

static Status forecast(PlanCell *cell, const PlanRoom *room, const Config *settled,
                       const Binding *binding)
{
    CommForecastInput input = {.machine = room->machine, .links = room->links};
    if (!room->forecast) return ST_OK;
    TRY(single_step(cell, room, &input.step));
    if (!room->rows || input.step > 0)
        return comm_forecast_make(&cell->forecast, settled, &cell->placement, binding, &input);
    const bool cpu = cell->placement.backend == BACKEND_cpu;
    const int n = snprintf(cell->forecast.why, sizeof cell->forecast.why,
                           "the file of --step has no row of one rank with this work on %s",
                           cell->placement.name);
    if (cpu)
        snprintf(cell->forecast.why + n, sizeof cell->forecast.why - (size_t)n,
                 " with --threads %d", cell->placement.threads);
    return ST_OK;
}

/* `--recompute auto` as within the first limit. */
static Status plan_step(PlanCell *cell, const PlanRoom *room)
{
    CLEANUP(model_free) Model model = {0};
    CLEANUP(binding_free) Binding binding = {0};
    Config settled;
    TRY(fit_settle_recompute(&cell->settled, &cell->placement, cell->config->mode,
                             cell->memory.resident, cell->fits[0].limit, &settled));
    TRY(placement_plan(&cell->placement, &settled, settled.mode, &model, &binding));
    TRY(describe(cell, room->machine, &model, &binding));
    TRY(fp8_memory_make(&cell->fp8_memory, &cell->placement, &settled, &model.plan, &binding.mem));
    return forecast(cell, room, &settled, &binding);
}

/* ---- what fits ---- */

static Status find_needs(PlanCell *cell)
{
    PlanMemory *memory = &cell->memory;
    const Mode asked = cell->config->mode;
    memory->allowance = fit_allowance(&cell->placement);
    memory->need[asked] = memory->planned + memory->allowance + memory->resident;
    for (int mode = 0; mode < (int)asked; mode++) {
        TRY(fit_search_need(&cell->settled, &cell->placement, (Mode)mode, memory->resident,
                            &memory->need[mode]));
    }
    return ST_OK;
}

/* `--recompute auto` goes by the memory there is: without it there is nothing to plan. */
static void add_usual(PlanCell *cell)
{
    static const size_t gib[] = {8, 16, 24, 80, 141};
    if (cell->n_fits == 0 && cell->config->recompute == CONFIG_RECOMPUTE_AUTO) return;
    for (size_t i = 0; i < sizeof gib / sizeof *gib; i++)
        cell->fits[cell->n_fits++].limit = gib[i] << 30;
}

static Status find_limits(PlanCell *cell, const PlanRoom *room)
{
    cell->n_fits = room->n_limits;
    for (int i = 0; i < room->n_limits; i++) cell->fits[i].limit = (size_t)room->limits[i];
    if (room->n_limits) return ST_OK;
    TRY(fit_available(cell->config, &cell->placement, room->machine, room->resident,
                      &cell->fits[0].limit));
    cell->whole = cell->fits[0].limit > 0;
    cell->n_fits = cell->whole;
    if (room->usual && !room->machine) add_usual(cell);
    return ST_OK;
}

/* Where nothing is recomputed: how far recomputation would get. */
static Status look_at_recompute(PlanCell *cell)
{
    Config config = cell->settled;
    size_t need[MODE_COUNT] = {0};
    if (!config_mode_has_backward(config.mode) || config.recompute != CONFIG_RECOMPUTE_NONE)
        return ST_OK;
    config.recompute = CONFIG_RECOMPUTE_BLOCK;
    for (int mode = 0; mode <= (int)config.mode; mode++)
        TRY(fit_search_need(&config, &cell->placement, (Mode)mode, cell->memory.resident,
                            &need[mode]));
    for (int i = 0; i < cell->n_fits; i++) cell->recomputed[i].limit = cell->fits[i].limit;
    cell->with_recomputed = true;
    return fit_search(&config, &cell->placement, cell->memory.resident, need, cell->recomputed,
                      cell->n_fits);
}

static Status advise(PlanCell *cell)
{
    for (int i = 0; i < cell->n_fits; i++) {
        if (cell->fits[i].fits) continue;
        TRY(fit_advice(&cell->settled, &cell->placement, cell->memory.resident, cell->fits[i].limit,
                       &cell->advice[i]));
    }
    return ST_OK;
}

static Status fill(PlanCell *cell, const PlanRoom *room)
{
    TRY(placement_on(cell->config, room->machine, &cell->placement));
    TRY(placement_settle_fp8(cell->config, &cell->placement, &cell->settled));
    TRY(find_limits(cell, room));
    TRY(plan_step(cell, room));
    TRY(find_needs(cell));
    if (cell->n_fits == 0) return ST_OK;
    TRY(fit_search(&cell->settled, &cell->placement, cell->memory.resident, cell->memory.need,
                   cell->fits, cell->n_fits));
    TRY(look_at_recompute(cell));
    return advise(cell);
}

Status plan_cell_make(PlanCell *cell, const Config *config, const PlanRoom *room)
{
    *cell = (PlanCell){.config = config, .memory.resident = room->resident};
    const Status status = fill(cell, room);
    if (status != ST_UNSUPPORTED) return status;
    *cell = (PlanCell){.config = config, .unsupported = true};
    snprintf(cell->message, sizeof cell->message, "%s", status_message());
    return ST_OK;
}
