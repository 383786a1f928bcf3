#include "bench/fit.h"

#include "base/human.h"
#include "bench/rss.h"
#include "exec/step_plan.h"
#include "model/attention_alone.h"

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

static Status plan_mode(Fit *fit, const Config *config, const Placement *placement, Mode mode)
{
    fit->mode = mode;
    fit->model = calloc(1, sizeof *fit->model);
    if (!fit->model) return FAIL(ST_NO_MEMORY, "no memory for a plan");
    return step_plan_make(fit->model, &fit->binding, config, mode, placement->backend,
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
    *fit = (Fit){.available = available};
    for (int mode = (int)config->mode; mode >= MODE_FWD && !fit->fits; mode--) {
        drop_plan(fit);
        const Status status = plan_mode(fit, config, placement, (Mode)mode);
        if (status != ST_OK) {
            drop_plan(fit);
            return status;
        }
        if (config->subject == SUBJECT_ATTENTION && mode == MODE_FWD_BWD) {
            fit->before_backward = attention_alone_before_backward(fit->model, &fit->binding.mem);
        }
        fit->need[mode] = mem_plan_total(&fit->binding.mem) + fit_allowance(placement) + held;
        fit->fits = fit->need[mode] <= available;
    }
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
    const double need = (double)fit->need[mode], there = (double)fit->available;
    snprintf(text.s, sizeof text.s, "needs %s, %s available, short by %s", human_bytes(need).s,
             human_bytes(there).s, human_bytes(need - there).s);
    return text;
}
