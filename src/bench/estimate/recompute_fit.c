#include "bench/estimate/recompute_fit.h"

#include "exec/step_plan.h"
#include "model/transform_recompute.h"

Status recompute_fit_planned(const Config *config, const Placement *placement, Mode mode,
                             size_t *bytes)
{
    Model model;
    Binding binding;
    TRY(step_plan_make(&model, &binding, config, mode, placement->backend, placement->capability,
                       placement->threads));
    *bytes = mem_plan_total(&binding.mem);
    binding_free(&binding);
    model_free(&model);
    return ST_OK;
}

/* Each block that is computed again lets what it saved die early, so memory falls with their number and
 * the smallest one that fits is found by halving. */
Status recompute_fit(const Config *config, const Placement *placement, Mode mode, size_t most,
                     Config *out)
{
    size_t bytes = 0;
    *out = *config;
    if (config->recompute != CONFIG_RECOMPUTE_AUTO) return ST_OK;
    out->recompute = CONFIG_RECOMPUTE_NONE;
    TRY(recompute_fit_planned(out, placement, mode, &bytes));
    if (bytes <= most || mode == MODE_FWD) return ST_OK;
    out->recompute = CONFIG_RECOMPUTE_BLOCK;
    int64_t too_few = 0, enough = transform_recompute_blocks(out);
    while (enough - too_few > 1) {
        out->recompute_blocks = too_few + (enough - too_few) / 2;
        TRY(recompute_fit_planned(out, placement, mode, &bytes));
        if (bytes <= most) {
            enough = out->recompute_blocks;
        } else {
            too_few = out->recompute_blocks;
        }
    }
    out->recompute_blocks = enough;
    return ST_OK;
}
