#include "bench/forecast/efficiency.h"

#include "base/stats.h"
#include "bench/limits/datasheet.h"
#include "bench/limits/roofline.h"

#include <math.h>
#include <string.h>

const char *const efficiency_bound_names[EFFICIENCY_BOUNDS] = {
    [EFFICIENCY_COMPUTE] = "compute",
    [EFFICIENCY_MEMORY] = "memory",
    [EFFICIENCY_START] = "starts",
    [EFFICIENCY_SUBMIT] = "host",
};

const char *const efficiency_program_names[EFFICIENCY_PROGRAMS + 1] = {
    [EFFICIENCY_ROOFSTEP] = "roofstep",
    [EFFICIENCY_TORCH] = "torch",
};

bool efficiency_multiplies(OpKind op)
{
    return plan_category_multiplies(plan_op_category(op));
}

bool efficiency_has_scores(OpKind op)
{
    return op == OP_attention || op == OP_attention_grad;
}

Precision efficiency_precision(OpKind op, Precision of_step)
{
    return of_step == PRECISION_FP8 && op != OP_scaled_matmul ? PRECISION_BF16 : of_step;
}

/* ---- the device ---- */

static void lower(LimitsRate *rate, double reached)
{
    if (reached > 0)
        *rate =
            (LimitsRate){rate->median * reached, rate->min * reached, rate->max * reached, rate->n};
}

Limits efficiency_limits(const Efficiency *e, const Limits *limits)
{
    Limits reached = *limits;
    if (!limits->datasheet) return reached;
    for (int p = 0; p < PRECISION_COUNT; p++) {
        LimitsRate(*rows)[LIMITS_SCOPES] = &reached.rate[limits_largest((Precision)p)];
        for (int i = 0; i <= LIMITS_PASSES; i++) lower(&rows[i][LIMITS_ALL], e->reached[p]);
    }
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (limits_names[i].kind == LIMITS_MEMORY)
            lower(&reached.rate[i][LIMITS_ALL], e->reached_memory);
    }
    return reached;
}

bool efficiency_rates(const Efficiency *e, const Limits *limits, Precision precision,
                      EfficiencyRates *rates)
{
    const Limits reached = efficiency_limits(e, limits);
    for (int p = 0; p < PRECISION_COUNT; p++)
        rates->flops[p] = limits_peak_flops(&reached, (Precision)p);
    rates->fp32 = rates->flops[PRECISION_FP32];
    rates->bandwidth = roofline_bandwidth(&reached);
    return rates->flops[precision] > 0 &&
           rates->flops[efficiency_precision(OP_matmul, precision)] > 0 && rates->fp32 > 0 &&
           rates->bandwidth > 0;
}

/* ---- the line of a node ---- */

/* How far the line is from what is asked: 0 is it, -1: another op. */
static int distance(const EfficiencyLine *line, OpKind op, Precision precision, const char *impl)
{
    if (line->op != op) return -1;
    const bool other_impl = *line->impl && strcmp(line->impl, impl) != 0;
    const bool other_precision = line->precision != PRECISION_COUNT && line->precision != precision;
    return 2 * other_precision + other_impl;
}

const EfficiencyLine *efficiency_line(const Efficiency *e, OpKind op, Precision precision,
                                      const char *impl, bool nearest)
{
    const EfficiencyLine *best = NULL;
    int least = nearest ? 4 : 1;
    for (int i = 0; i < e->n_lines; i++) {
        const int d = distance(&e->lines[i], op, precision, impl);
        if (d < 0 || d >= least) continue;
        best = &e->lines[i];
        least = d;
    }
    return best;
}

EfficiencyLine efficiency_usual(const Efficiency *e, OpKind op, Precision precision)
{
    double starts[EFFICIENCY_LINES], slopes[EFFICIENCY_LINES];
    int n = 0;
    const EfficiencyLine *product = efficiency_line(e, OP_matmul, precision, "", true);
    if (efficiency_multiplies(op) && product) return *product;
    for (int i = 0; i < e->n_lines; i++) {
        if (e->lines[i].precision != PRECISION_COUNT) continue;
        starts[n] = e->lines[i].start;
        slopes[n++] = e->lines[i].bytes;
    }
    return (EfficiencyLine){.op = op,
                            .precision = PRECISION_COUNT,
                            .start = n > 0 ? stats_median(starts, n) : 0,
                            .flops = 1,
                            .bytes = n > 0 ? stats_median(slopes, n) : 1};
}

const EfficiencyHost *efficiency_host(const Efficiency *e, EfficiencyProgram program, Exec exec)
{
    for (int i = 0; i < e->n_hosts; i++) {
        if (e->hosts[i].program == program && e->hosts[i].exec == exec) return &e->hosts[i];
    }
    return NULL;
}

void efficiency_parts(const EfficiencyLine *line, const EfficiencyWork *work,
                      const EfficiencyRates *rates, Precision precision,
                      double seconds[EFFICIENCY_BOUNDS])
{
    const double compute = work->flops * line->flops / rates->flops[precision] +
                           work->scores * line->score / rates->fp32;
    const double memory = work->bytes * line->bytes / rates->bandwidth;
    seconds[EFFICIENCY_COMPUTE] = compute > memory ? compute : 0;
    seconds[EFFICIENCY_MEMORY] = compute > memory ? 0 : memory;
    seconds[EFFICIENCY_START] = line->start;
    seconds[EFFICIENCY_SUBMIT] = 0;
}

double efficiency_seconds(const EfficiencyLine *line, const EfficiencyWork *work,
                          const EfficiencyRates *rates, Precision precision)
{
    double parts[EFFICIENCY_BOUNDS], sum = 0;
    efficiency_parts(line, work, rates, precision, parts);
    for (int b = 0; b < EFFICIENCY_BOUNDS; b++) sum += parts[b];
    return sum;
}
