#include "bench/estimate/fit.h"

#include "base/human.h"
#include "bench/estimate/recompute_fit.h"
#include "bench/measure/rss.h"
#include "exec/step_plan.h"
#include "model/attention_alone.h"
#include "model/transform_recompute.h"

#include <stdio.h>
#include <stdlib.h>

/* Packing buffers, stacks, code: 5 to 15 MiB measured with BLIS and OpenBLAS on two threads (a
 * record's library_mib), with room for wider machines' larger blocks. */
enum { ALLOWANCE_MIB = 24, ALLOWANCE_MIB_PER_THREAD = 8 };

size_t fit_allowance(const Placement *placement)
{
    return ((size_t)ALLOWANCE_MIB + ALLOWANCE_MIB_PER_THREAD * (size_t)placement->threads) << 20;
}

Status fit_held(size_t *held)
{
    const size_t step = (size_t)4 << 20;
    Rss rss;
    TRY(rss_read(&rss));
    *held = (rss.now + step - 1) / step * step;
    return ST_OK;
}

Status fit_available(const Config *config, const Placement *placement, size_t held,
                     size_t *available)
{
    const BackendApi *api = backend_api(placement->backend);
    Backend *backend = NULL;
    TRY(api->open(&backend, placement->device, placement->threads));
    const Status status = api->available(backend, available);
    api->close(backend);
    TRY(status);
    *available += held;
    if (config->memory_limit > 0 && (size_t)config->memory_limit < *available) {
        *available = (size_t)config->memory_limit;
    }
    return ST_OK;
}

Status fit_check_recompute(const Config *config)
{
    if (config->recompute != CONFIG_RECOMPUTE_AUTO) return ST_OK;
    return FAIL(ST_USAGE, "--recompute auto: no GPU is here to ask how much memory it has; say "
                          "--memory-limit SIZE, or --limits FILE of a machine that knows");
}

/* `beside` is what the process holds beside its plan. */
static Status plan_mode(Fit *fit, const Config *config, const Placement *placement, Mode mode,
                        size_t beside)
{
    Config settled;
    TRY(recompute_fit(config, placement, mode,
                      fit->available > beside ? fit->available - beside : 0, &settled));
    fit->mode = mode;
    fit->model = calloc(1, sizeof *fit->model);
    if (!fit->model) return NO_MEMORY("for a plan");
    return step_plan_make(fit->model, &fit->binding, &settled, mode, placement->backend,
                          placement->capability, placement->threads);
}

static void drop_plan(Fit *fit)
{
    binding_free(&fit->binding);
    if (fit->model) model_free(fit->model);
    free(fit->model);
    fit->model = NULL;
}

Status fit_make(Fit *fit, const Config *config, const Placement *placement, size_t held,
                size_t available)
{
    const size_t beside = fit_allowance(placement) + held;
    *fit = (Fit){.available = available};
    for (int mode = (int)config->mode; mode >= MODE_FWD && !fit->fits; mode--) {
        drop_plan(fit);
        const Status status = plan_mode(fit, config, placement, (Mode)mode, beside);
        if (status != ST_OK) {
            drop_plan(fit);
            return status;
        }
        if (config->subject == SUBJECT_ATTENTION && config_mode_saves((Mode)mode)) {
            fit->before_backward = attention_alone_before_backward(fit->model, &fit->binding.mem);
        }
        fit->need[mode] = mem_plan_total(&fit->binding.mem) + beside;
        fit->fits = fit->need[mode] <= available;
    }
    return ST_OK;
}

Status fit_saved(const Fit *fit, const Placement *placement, size_t *saved)
{
    Config plain = fit->model->config;
    size_t whole = 0;
    *saved = 0;
    if (fit->mode == MODE_FWD || transform_recompute_blocks(&plain) == 0) return ST_OK;
    plain.recompute = CONFIG_RECOMPUTE_NONE;
    TRY(recompute_fit_planned(&plain, placement, fit->mode, &whole));
    const size_t now = mem_plan_total(&fit->binding.mem);
    *saved = whole > now ? whole - now : 0;
    return ST_OK;
}

void fit_free(Fit *fit)
{
    drop_plan(fit);
    *fit = (Fit){0};
}

FitText fit_shortage(const Fit *fit, Mode mode)
{
    FitText text;
    const HumanShortage s = human_shortage(fit->need[mode], fit->available);
    snprintf(text.s, sizeof text.s, "needs %s, %s available, short by %s", s.need.s, s.there.s,
             s.lack.s);
    return text;
}
