#include "bench/outlook.h"

#include "backend/cpu_info.h"
#include "bench/limits.h"
#include "bench/roofline.h"

#include <math.h>

static const double usual_share = 0.8; /* of the roof that a step reaches */

static size_t last_level_cache(const CpuInfo *info)
{
    const int64_t caches = info->l3_instances > 1 ? info->l3_instances : 1;
    return (size_t)(info->l3 > 0 ? info->l3 * caches : info->l2);
}

Status outlook_make(Outlook *outlook, const Config *config, const Placement *placement,
                    const Plan *plan)
{
    *outlook = (Outlook){NAN, NAN};
    if (placement->backend != BACKEND_cpu) return ST_OK; /* limits are the CPU's so far */
    LimitsKey key;
    Limits limits;
    CpuInfo info;
    TRY(limits_key(placement->threads, &key));
    if (!limits_load(&key, &limits)) return ST_OK;
    TRY(cpu_info_read(&info, ""));
    const double peak = limits_peak_flops(&limits, config->precision);
    if (peak > 0) outlook->peak_flops = peak;
    outlook->roof_seconds =
        roofline_seconds(plan, &limits, config->precision, last_level_cache(&info));
    return ST_OK;
}

double outlook_cell_seconds(const Outlook *outlook, const Config *config)
{
    const double unmeasured = config->warmup > 1 ? (double)config->warmup : 1;
    return (unmeasured + (double)config->steps) * outlook->roof_seconds / usual_share;
}

/* Forward: 2 FLOPs per weight and token, and two products of T x T / 2 x C per sequence and layer.
 * Backward: twice that. */
double outlook_work(const Config *c)
{
    const double B = (double)c->batch, T = (double)c->ctx, C = (double)c->d_model;
    const double F = (double)c->d_ff, V = (double)c->vocab, L = (double)c->num_layers;
    const double weights = L * (4 * C * C + 3 * C * F) + V * C;
    const double forward = 2 * B * T * weights + L * 2 * B * T * T * C;
    return c->mode == MODE_FWD ? forward : 3 * forward;
}
