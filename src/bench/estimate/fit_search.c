#include "bench/estimate/fit_search.h"

#include "bench/estimate/fit.h"
#include "config/option_value.h"
#include "model/transform_recompute.h"

#include <stdint.h>

/* ---- one need ---- */

static Status plan_need(const Config *config, const Placement *placement, Mode mode,
                        size_t resident, size_t *need)
{
    Config most = *config;
    if (most.recompute == CONFIG_RECOMPUTE_AUTO) most.recompute = CONFIG_RECOMPUTE_BLOCK;
    TRY(config_check(config));
    TRY(config_check_positions(config));
    TRY(fit_planned_bytes(&most, placement, mode, need));
    *need += fit_allowance(placement) + resident;
    return ST_OK;
}

Status fit_search_need(const Config *config, const Placement *placement, Mode mode, size_t resident,
                       size_t *need)
{
    const Status status = plan_need(config, placement, mode, resident, need);
    if (status != ST_USAGE && status != ST_UNSUPPORTED) return status;
    *need = SIZE_MAX; /* both say: too large, since smaller sizes of the same config were taken */
    return ST_OK;
}

/* ---- the need as a function of one dimension ---- */

enum { MOST_POINTS = 512 };

typedef struct Point {
    int64_t x;
    size_t need;
} Point;

/* Grows with x, but for what packing makes of it. Every point that was computed serves all limits. */
typedef struct Curve {
    const Config *config;
    const Placement *placement;
    size_t resident;
    OptionId axis;             /* BATCH or CTX */
    Point points[MOST_POINTS]; /* by x */
    int n;
} Curve;

static void add_point(Curve *curve, Point point)
{
    int at = curve->n++;
    for (; at > 0 && curve->points[at - 1].x > point.x; at--) {
        curve->points[at] = curve->points[at - 1];
    }
    curve->points[at] = point;
}

static Status compute(Curve *curve, int64_t x)
{
    Config config = *curve->config;
    const OptionValue value = {.number = x};
    Point point = {.x = x};
    if (curve->n == MOST_POINTS) return FAIL(ST_FAILED, "the search for what fits did not end");
    option_value_store(curve->axis, &value, &config);
    TRY(fit_search_need(&config, curve->placement, config.mode, curve->resident, &point.need));
    add_point(curve, point);
    return ST_OK;
}

/* ---- the largest x whose need is within a limit ---- */

/* The known points around the answer: low fits or is {0, 0}, high is above it and does not. */
static void bracket(const Curve *curve, size_t limit, Point *low, Point *high)
{
    *low = (Point){0, 0};
    *high = (Point){(int64_t)option_table[curve->axis].max + 1, SIZE_MAX};
    for (int i = 0; i < curve->n; i++) {
        if (curve->points[i].need <= limit) *low = curve->points[i];
    }
    for (int i = curve->n; i-- > 0 && curve->points[i].x > low->x;) *high = curve->points[i];
}

/* Where the line through two points reaches the limit; at most `most`. */
static int64_t reach(Point a, Point b, size_t limit, int64_t most)
{
    const double rise = ((double)b.need - (double)a.need) / (double)(b.x - a.x);
    const double x = (double)a.x + ((double)limit - (double)a.need) / rise;
    return rise > 0 && x < (double)most ? (int64_t)x : most;
}

/* Needs are lines with a few bends, so the line through two points mostly hits. Every third guess is
 * the middle, or 16 times as much where no upper end is known yet, which ends the search in any case. */
static int64_t guess(const Curve *curve, size_t limit, Point low, Point high, int turn)
{
    if (low.x == 0) return 1;
    const bool open = high.x > (int64_t)option_table[curve->axis].max;
    const int64_t most = open && low.x <= high.x / 16 ? 16 * low.x : high.x;
    const Point first = curve->points[0];
    int64_t x = open ? most : low.x + (high.x - low.x) / 2;
    if (turn % 3 < 2 && !open && high.need != SIZE_MAX) x = reach(low, high, limit, most);
    if (turn % 3 < 2 && open) x = first.x < low.x ? reach(first, low, limit, most) : 2 * low.x;
    return x <= low.x ? low.x + 1 : x >= high.x ? high.x - 1 : x;
}

static Status largest(Curve *curve, size_t limit, int64_t *x)
{
    Point low, high;
    bracket(curve, limit, &low, &high);
    for (int turn = 0; high.x - low.x > 1; turn++) {
        TRY(compute(curve, guess(curve, limit, low, high, turn)));
        bracket(curve, limit, &low, &high);
    }
    *x = low.x;
    return ST_OK;
}

static Status search(const Config *config, const Placement *placement, size_t resident, size_t need,
                     OptionId axis, FitLimit *fits, int n)
{
    Curve curve = {.config = config, .placement = placement, .resident = resident, .axis = axis};
    add_point(&curve, (Point){option_value_load(axis, config).number, need});
    for (int i = 0; i < n; i++) {
        int64_t *most = axis == OPTION_BATCH ? &fits[i].most_batch : &fits[i].most_ctx;
        TRY(largest(&curve, fits[i].limit, most));
    }
    return ST_OK;
}

/* The need with the recomputation that `--recompute auto` chooses within this limit. */
static Status settle_auto(const Config *config, const Placement *placement, size_t resident,
                          FitLimit *fit)
{
    Config settled;
    TRY(fit_settle_recompute(config, placement, config->mode, resident, fit->limit, &settled));
    TRY(fit_planned_bytes(&settled, placement, config->mode, &fit->need));
    fit->need += fit_allowance(placement) + resident;
    fit->recomputed_blocks = transform_recompute_blocks(&settled);
    return ST_OK;
}

static Status look_at_limit(const Config *config, const Placement *placement, size_t resident,
                            const size_t need[MODE_COUNT], FitLimit *fit)
{
    *fit = (FitLimit){.limit = fit->limit,
                      .need = need[config->mode],
                      .recomputed_blocks = transform_recompute_blocks(config)};
    if (config->recompute == CONFIG_RECOMPUTE_AUTO)
        TRY(settle_auto(config, placement, resident, fit));
    if (config->mode == MODE_FWD) fit->recomputed_blocks = 0;
    fit->fits = fit->need <= fit->limit;
    fit->short_by = fit->fits ? 0 : fit->need - fit->limit;
    for (int mode = 0; mode <= (int)config->mode; mode++) {
        if ((mode == (int)config->mode ? fit->need : need[mode]) > fit->limit) continue;
        fit->any = true;
        fit->mode = (Mode)mode;
    }
    return ST_OK;
}

Status fit_search(const Config *config, const Placement *placement, size_t resident,
                  const size_t need[MODE_COUNT], FitLimit *fits, int n)
{
    size_t least = need[config->mode];
    Config settled; /* no other size is measured for --fp8-layers auto */
    TRY(placement_settle_fp8(config, placement, &settled));
    for (int i = 0; i < n; i++) TRY(look_at_limit(&settled, placement, resident, need, &fits[i]));
    if (config->recompute == CONFIG_RECOMPUTE_AUTO)
        TRY(fit_search_need(&settled, placement, config->mode, resident, &least));
    TRY(search(&settled, placement, resident, least, OPTION_BATCH, fits, n));
    return search(&settled, placement, resident, least, OPTION_CTX, fits, n);
}
