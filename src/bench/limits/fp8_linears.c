#include "bench/limits/fp8_linears.h"

#include "base/array.h"
#include "base/i64.h"
#include "base/stats.h"
#include "bench/limits/timed_plan.h"
#include "config/cell_field.h"
#include "config/option_value.h"
#include "model/stages.h"
#include "plan/plan_excerpt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Device {
    BackendId backend;
    int device, threads;
} Device;

/* Blocks whose weights together do not stay in a GPU's cache, as those of a whole model do not. */
static int64_t blocks_of(const Config *config)
{
    static const double cache = 128e6;
    enum { LEAST = 2, MOST = 8 };
    Config one = *config;
    one.model.num_layers = 1;
    one.model.vocab = 16;
    const double bytes = 2 * model_parameters(&one);
    const int64_t enough = isfinite(bytes) && bytes > 0 ? (int64_t)fmin(cache / bytes, MOST) : MOST;
    return i64_min(i64_max(enough, LEAST), config->model.num_layers);
}

/* Some blocks of the model as a step has them: what follows the linear layers is left out. */
static Config blocks(const Config *config, int64_t n, Precision precision)
{
    Config c = *config;
    c.model.vocab = 16;
    c.model.num_layers = n;
    c.precision = precision;
    c.fp8_layers = CONFIG_LINEARS_ALL;
    c.recompute = CONFIG_RECOMPUTE_NONE;
    c.recompute_blocks = 0;
    c.accumulate = 1;
    if (c.mode == MODE_TRAIN) c.mode = MODE_FWD_BWD;
    return c;
}

static bool is_of(const Node *node, LinearLayer linear)
{
    return (node->op == OP_matmul || node->op == OP_quantize || node->op == OP_scaled_matmul) &&
           transform_fp8_linear(node) == linear;
}

/* The median of several times; 0: the model has no such layer. */
static Status time_linear(const Device *d, const Plan *plan, LinearLayer linear, double *seconds)
{
    enum { TIMES = 5 };
    CLEANUP(timed_plan_close) TimedPlan timed = {0};
    CLEANUP(array_free) bool *wanted = calloc((size_t)plan->n_nodes + 1, sizeof *wanted);
    double times[TIMES];
    bool any = false;
    if (!wanted) return NO_MEMORY("for %d nodes", plan->n_nodes);
    for (int i = 0; i < plan->n_nodes; i++) any |= wanted[i] = is_of(&plan->nodes[i], linear);
    *seconds = 0;
    if (!any) return ST_OK;
    TRY(plan_excerpt(&timed.plan, plan, wanted));
    TRY(timed_plan_open(&timed, d->backend, d->device, d->threads));
    TRY(timed_plan_choose_runs(&timed));
    for (int i = 0; i < TIMES; i++) {
        TRY(timed_plan_run(&timed, &times[i]));
        times[i] /= timed.runs;
    }
    *seconds = stats_median(times, TIMES);
    return ST_OK;
}

static Status time_linears(const Device *d, const Config *config, int64_t n, Precision precision,
                           double seconds[LINEAR_COUNT])
{
    CLEANUP(model_free) Model model = {0};
    const Config c = blocks(config, n, precision);
    TRY(model_build(&model, &c, c.mode, DT_F32));
    for (int i = 0; i < LINEAR_COUNT; i++)
        TRY(time_linear(d, &model.plan, (LinearLayer)i, &seconds[i]));
    return ST_OK;
}

/* Layers that gain less are as fast, and every cell would choose otherwise. */
static const double least_gain = 0.02;

static Status measure_blocks(const Device *d, const Config *config, int64_t n, int64_t *linears)
{
    double bf16[LINEAR_COUNT], fp8[LINEAR_COUNT];
    TRY(time_linears(d, config, n, PRECISION_BF16, bf16));
    TRY(time_linears(d, config, n, PRECISION_FP8, fp8));
    *linears = 0;
    for (int i = 0; i < LINEAR_COUNT; i++) {
        if (bf16[i] > 0 && fp8[i] < (1 - least_gain) * bf16[i]) *linears |= 1 << i;
    }
    if (*linears == 0) *linears = CONFIG_LINEARS_NONE;
    return ST_OK;
}

/* What several blocks read at once may not fit where a step that recomputes does. */
static Status measure(const Device *d, const Config *config, int64_t *linears)
{
    const int64_t n = blocks_of(config);
    const Status status = measure_blocks(d, config, n, linears);
    return status == ST_NO_MEMORY && n > 1 ? measure_blocks(d, config, 1, linears) : status;
}

/* What decides how long the layers take: the sizes, and how each is run. */
static bool is_same_work(const Config *a, const Config *b)
{
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (cell_field_table[id].part > CELL_PART_PLAN || id == OPTION_RECOMPUTE ||
            id == OPTION_ACCUMULATE)
            continue;
        if (option_value_compare_cells((OptionId)id, a, b) != 0) return false;
    }
    return true;
}

Status fp8_linears_settle(const Config *config, BackendId backend, int device, int threads,
                          Config *settled)
{
    static Config last; /* subject and all; a cell plans several times */
    static int64_t linears = CONFIG_LINEARS_AUTO;
    *settled = *config;
    if (config->precision != PRECISION_FP8 || config->fp8_layers != CONFIG_LINEARS_AUTO)
        return ST_OK;
    if (device < 0)
        return FAIL(ST_UNSUPPORTED, "--fp8-layers auto measures on the GPU itself, and it is not "
                                    "here: name the layers, as --fp8-layers w13+w2");
    if (linears == CONFIG_LINEARS_AUTO || !is_same_work(&last, config)) {
        TRY(measure(&(Device){backend, device, threads}, config, &linears));
        last = *config;
    }
    settled->fp8_layers = linears;
    return ST_OK;
}
