#include "bench/estimate/fit.h"

#include "backend/cpu_info.h"
#include "backend/nvml_info.h"
#include "base/human.h"
#include "base/i64.h"
#include "bench/measure/rss.h"
#include "model/attention_alone.h"
#include "model/transform_recompute.h"

#include <stdio.h>

/* ---- what a process holds and may hold ---- */

/* Packing buffers, stacks, code: 5 to 15 MiB measured with BLIS and OpenBLAS on two threads (a
 * record's library_mib), with room for wider machines' larger blocks. */
enum { ALLOWANCE_MIB = 24, ALLOWANCE_MIB_PER_THREAD = 8 };

size_t fit_allowance(const Placement *placement)
{
    return ((size_t)ALLOWANCE_MIB + ALLOWANCE_MIB_PER_THREAD * (size_t)placement->threads) << 20;
}

Status fit_resident(size_t *bytes)
{
    const int64_t step = 4 << 20;
    Rss rss;
    TRY(rss_read(&rss));
    *bytes = (size_t)i64_round_up((int64_t)rss.now, step);
    return ST_OK;
}

static Status ask_device(const Placement *placement, size_t *available)
{
    const BackendApi *api = backend_api(placement->backend);
    Backend *backend = NULL;
    TRY(api->open(&backend, placement->device));
    const Status status = api->available(backend, available);
    api->close(backend);
    return status;
}

/* No process there has opened it yet. */
static size_t memory_of(const Limits *machine)
{
    const size_t context = *machine->key.gpu ? (size_t)FIT_CONTEXT_MIB << 20 : 0;
    const size_t bytes = (size_t)machine->memory_bytes;
    return bytes > context ? bytes - context : 0;
}

Status fit_available(const Config *config, const Placement *placement, const Limits *machine,
                     size_t resident, size_t *available)
{
    const size_t limit = (size_t)config->memory_limit;
    *available = machine ? memory_of(machine) : 0;
    if (!machine && placement->here) {
        TRY(ask_device(placement, available));
        const int64_t ranks =
            placement->backend == BACKEND_cpu ? config->ranks : placement->sharing;
        *available = *available / (size_t)i64_max(ranks, 1) + resident;
    }
    if (limit > 0 && (*available == 0 || limit < *available)) *available = limit;
    return ST_OK;
}

Status fit_planned_bytes(const Config *config, const Placement *placement, Mode mode, size_t *bytes)
{
    CLEANUP(model_free) Model model = {0};
    CLEANUP(binding_free) Binding binding = {0};
    TRY(placement_plan(placement, config, mode, &model, &binding));
    *bytes = mem_plan_total(&binding.mem);
    return ST_OK;
}

/* Each block that is recomputed frees what it saved early, so memory falls with their number and
 * bisection finds the smallest that fits. */
static Status fewest_blocks(Config *out, const Placement *placement, Mode mode, size_t most)
{
    size_t bytes = 0;
    int64_t too_few = 0, enough = transform_recompute_blocks(out);
    while (enough - too_few > 1) {
        out->recompute_blocks = too_few + (enough - too_few) / 2;
        TRY(fit_planned_bytes(out, placement, mode, &bytes));
        *(bytes <= most ? &enough : &too_few) = out->recompute_blocks;
    }
    out->recompute_blocks = enough;
    return ST_OK;
}

Status fit_settle_recompute(const Config *config, const Placement *placement, Mode mode,
                            size_t resident, size_t limit, Config *out)
{
    const size_t beside = fit_allowance(placement) + resident;
    const size_t most = limit > beside ? limit - beside : 0;
    size_t bytes = 0;
    *out = *config;
    if (config->recompute != CONFIG_RECOMPUTE_AUTO) return ST_OK;
    if (limit == 0)
        return FAIL(ST_USAGE,
                    "--recompute auto needs to know how much memory there is, and this "
                    "machine has no GPU to ask: add --memory-limit SIZE or --limits FILE");
    out->recompute = CONFIG_RECOMPUTE_NONE;
    TRY(fit_planned_bytes(out, placement, mode, &bytes));
    if (bytes <= most || mode == MODE_FWD) return ST_OK;
    out->recompute = CONFIG_RECOMPUTE_BLOCK;
    return fewest_blocks(out, placement, mode, most);
}

/* ---- one cell ---- */

static Status plan_mode(Fit *fit, const Config *config, const Placement *placement, Mode mode,
                        size_t resident)
{
    Config settled;
    TRY(fit_settle_recompute(config, placement, mode, resident, fit->available, &settled));
    fit->mode = mode;
    return placement_plan(placement, &settled, mode, &fit->model, &fit->binding);
}

static void drop_plan(Fit *fit)
{
    binding_free(&fit->binding);
    model_free(&fit->model);
}

Status fit_make(Fit *fit, const Config *config, const Placement *placement, size_t resident,
                size_t available)
{
    *fit = (Fit){.available = available};
    for (int mode = (int)config->mode; mode >= MODE_FWD && !fit->fits; mode--) {
        drop_plan(fit);
        const Status status = plan_mode(fit, config, placement, (Mode)mode, resident);
        if (status != ST_OK) {
            drop_plan(fit);
            return status;
        }
        if (config->subject == SUBJECT_ATTENTION && config_mode_saves((Mode)mode)) {
            fit->before_backward = attention_alone_before_backward(&fit->model, &fit->binding.mem);
        }
        fit->need[mode] = mem_plan_total(&fit->binding.mem) + fit_allowance(placement) + resident;
        fit->fits = fit->need[mode] <= available;
    }
    return ST_OK;
}

Status fit_make_on(Fit *fit, const Config *config, const Placement *placement,
                   const Limits *machine)
{
    size_t resident = 0, available = 0;
    TRY(fit_resident(&resident));
    TRY(fit_available(config, placement, machine, resident, &available));
    return fit_make(fit, config, placement, resident, available ? available : SIZE_MAX);
}

Status fit_recompute_saves(const Fit *fit, const Placement *placement, size_t *saved)
{
    Config plain = fit->model.config;
    size_t whole = 0;
    *saved = 0;
    if (fit->mode == MODE_FWD || transform_recompute_blocks(&plain) == 0) return ST_OK;
    plain.recompute = CONFIG_RECOMPUTE_NONE;
    TRY(fit_planned_bytes(&plain, placement, fit->mode, &whole));
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

/* ---- many cells ---- */

size_t fit_free_memory(bool gpu)
{
    NvmlReading reading = {0};
    CpuInfo info;
    if (!gpu)
        return cpu_info_read(&info, "") == ST_OK ? (size_t)cpu_info_memory_left(&info) : SIZE_MAX;
    NvmlInfo *nvml = nvml_info_open(NULL);
    if (nvml) nvml_info_read(nvml, &reading);
    nvml_info_close(nvml);
    const int64_t left = reading.memory_total - reading.memory_used;
    return left > 0 ? (size_t)left : SIZE_MAX;
}

/* The plan of one CPU thread stands for any device: they differ in workspaces alone. */
bool fit_all(const Config *configs, int n, size_t room)
{
    const Placement placement = {.backend = BACKEND_cpu, .threads = 1, .name = "cpu"};
    for (int i = 0; i < n; i++) {
        Config c = configs[i];
        const size_t own = c.memory_limit > 0 ? (size_t)c.memory_limit : SIZE_MAX;
        size_t bytes = 0;
        if (c.fp8_layers == CONFIG_LINEARS_AUTO) c.fp8_layers = CONFIG_LINEARS_ALL;
        if (fit_planned_bytes(&c, &placement, c.mode, &bytes) != ST_OK) continue;
        if (bytes + fit_allowance(&placement) > (own < room ? own : room)) return false;
    }
    return true;
}
