#include "bench/limits/roofline.h"

#include "ops/op.h"

#include <math.h>

typedef struct Roof {
    double flops, bytes; /* per second */
    double scaled_flops; /* of products of 8-bit floats */
    size_t cache;
    bool parameters_stream;
} Roof;

/* Lives from one phase to another: has left the cache by the time it is used again. */
static bool lasting(TensorKind kind)
{
    return kind == TK_PARAM || kind == TK_WEIGHT_COPY || kind == TK_MOMENT || kind == TK_GRAD ||
           kind == TK_GRAD_SUM;
}

double roofline_bandwidth(const Limits *limits)
{
    double best = 0;
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (limits_names[i].kind == LIMITS_MEMORY) {
            best = fmax(best, limits->rate[i][LIMITS_ALL].max);
        }
    }
    return best > 0 ? best : NAN;
}

static bool parameters_stream(const Plan *plan, size_t cache)
{
    double bytes = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        const Tensor *t = &plan->tensors[i];
        if (t->base == PLAN_NONE && lasting(t->kind)) bytes += (double)plan_bytes(t);
    }
    return bytes > (double)cache;
}

static bool streams(const Tensor *t, const Roof *roof)
{
    return plan_bytes(t) > roof->cache || (lasting(t->kind) && roof->parameters_stream);
}

/* What the op moves (the rows of a table that it reads, what it updates twice) less the operands
 * that stay in the cache. */
static double streamed_bytes(const Plan *plan, const Node *node, const Roof *roof)
{
    double bytes = op_cost(plan, node).bytes;
    bool any = false;
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int id = plan->operands[node->first + i];
        if (id == PLAN_NONE) continue;
        const Tensor *t = &plan->tensors[id];
        if (streams(t, roof)) {
            any = true;
        } else {
            bytes -= (double)plan_bytes(t);
        }
    }
    return any ? fmax(bytes, 0) : 0;
}

static double node_seconds(const Plan *plan, const Node *node, const Roof *roof)
{
    const bool multiplies = plan_category_multiplies(plan_op_category(node->op));
    const double flops = node->op == OP_scaled_matmul ? roof->scaled_flops : roof->flops;
    const double work = multiplies ? op_cost(plan, node).flops / flops : 0;
    return fmax(work, streamed_bytes(plan, node, roof) / roof->bytes);
}

/* What a step in fp8 multiplies in 16 bits is bf16. */
static Roof roof_of(const Plan *plan, const Limits *limits, Precision precision)
{
    const size_t cache = (size_t)limits->cache_bytes;
    const Precision wide = precision == PRECISION_FP8 ? PRECISION_BF16 : precision;
    return (Roof){.flops = limits_peak_flops(limits, wide),
                  .scaled_flops = limits_peak_flops(limits, precision),
                  .bytes = roofline_bandwidth(limits),
                  .cache = cache,
                  .parameters_stream = parameters_stream(plan, cache)};
}

static bool is_known(const Roof *roof)
{
    return roof->flops > 0 && roof->scaled_flops > 0 && roof->bytes > 0;
}

bool roofline_nodes(const Plan *plan, const Limits *limits, Precision precision, double *seconds)
{
    const Roof roof = roof_of(plan, limits, precision);
    for (int i = 0; is_known(&roof) && i < plan->n_nodes; i++)
        seconds[i] = node_seconds(plan, &plan->nodes[i], &roof);
    return is_known(&roof);
}

double roofline_seconds(const Plan *plan, const Limits *limits, Precision precision)
{
    const Roof roof = roof_of(plan, limits, precision);
    if (!is_known(&roof)) return NAN;
    double seconds = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        if (plan->nodes[i].phase != PHASE_SETUP) {
            seconds += (double)plan_phase_runs(plan, plan->nodes[i].phase) *
                       node_seconds(plan, &plan->nodes[i], &roof);
        }
    }
    return seconds;
}
