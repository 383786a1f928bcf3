#include "bench/estimate/memory_cell.h"

#include "bench/estimate/fit.h"
#include "model/transform_recompute.h"

#include <stdio.h>

static void drop(MemoryCell *cell)
{
    memory_profile_free(&cell->profile);
    binding_free(&cell->binding);
    model_free(&cell->model);
}

/* `--recompute auto` within --memory-limit, however much is there, or within what is there. */
static Status settle(const MemoryCell *cell, Mode mode, Config *settled)
{
    size_t resident = 0, limit = (size_t)cell->config->memory_limit;
    if (cell->config->recompute == CONFIG_RECOMPUTE_AUTO) {
        TRY(fit_resident(&resident));
        if (limit == 0)
            TRY(fit_available(cell->config, &cell->placement, cell->machine, resident, &limit));
    }
    return fit_settle_recompute(cell->config, &cell->placement, mode, resident, limit, settled);
}

static Status look_at(MemoryCell *cell, Mode mode, MemorySummary *summary)
{
    Config settled;
    TRY(settle(cell, mode, &settled));
    TRY(placement_plan(&cell->placement, &settled, mode, &cell->model, &cell->binding));
    TRY(memory_profile_make(&cell->profile, &cell->model, &cell->binding));
    *summary = (MemorySummary){.highest = cell->profile.highest[MEMORY_LATER_STEP],
                               .between = cell->profile.between,
                               .reserved = cell->profile.reserved};
    return ST_OK;
}

static Status fill(MemoryCell *cell)
{
    TRY(placement_on(cell->config, cell->machine, &cell->placement));
    TRY(look_at(cell, MODE_FWD, &cell->forward));
    drop(cell);
    TRY(look_at(cell, cell->config->mode, &cell->asked));
    if (cell->config->ranks > 1) TRY(memory_rank_plan(&cell->rank, &cell->profile));
    cell->attention = cell->model.attention;
    cell->parameters = cell->model.n_elements;
    if (cell->config->mode != MODE_FWD)
        cell->recomputed_blocks = transform_recompute_blocks(&cell->model.config);
    return ST_OK;
}

Status memory_cell_make(MemoryCell *cell, const Config *config, const Limits *machine, bool keep)
{
    *cell = (MemoryCell){.config = config, .machine = machine};
    const Status status = fill(cell);
    if (status != ST_OK || !keep) drop(cell);
    if (status != ST_UNSUPPORTED) return status;
    *cell = (MemoryCell){.config = config, .machine = machine, .unsupported = true};
    snprintf(cell->message, sizeof cell->message, "%s", status_message());
    return ST_OK;
}

void memory_cell_free(MemoryCell *cell)
{
    drop(cell);
    *cell = (MemoryCell){0};
}
