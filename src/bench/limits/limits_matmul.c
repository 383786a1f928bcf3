#include "bench/limits/limits_matmul.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/i64.h"
#include "bench/limits/timed_plan.h"
#include "model/model.h"
#include "ops/gemm_cpu/blas_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

const LimitsBudget limits_matmul_budget = {.large = 0.15, .model = 0.06, .repeats = 5};

typedef struct Shape {
    int64_t m, n, k;
    bool transpose_a, transpose_b;
} Shape;

static double flops_of(const Shape *p)
{
    return 2.0 * (double)p->m * (double)p->n * (double)p->k;
}

/* Seconds of one matmul, several times over. */
typedef struct Times {
    double seconds[LIMITS_MAX_REPEATS];
    int n;
} Times;

static LimitsRate rates_of(const Times *times, double flops)
{
    double rates[LIMITS_MAX_REPEATS];
    for (int i = 0; i < times->n; i++) rates[i] = flops / times->seconds[i];
    return limits_rate_of(rates, times->n);
}

static int at_most(int repeats)
{
    return repeats < LIMITS_MAX_REPEATS ? repeats : LIMITS_MAX_REPEATS;
}

/* ---- a plan of matmuls, each with operands of its own ---- */

/* 8-bit operands lie along k. */
static int write_operand(Builder *b, const char *name, Precision precision, int64_t rows, int64_t k,
                         bool transpose)
{
    if (precision == PRECISION_FP8)
        return builder_tensor(b, name, TK_INPUT, DT_E4M3, DIMS(rows, k));
    return builder_tensor(b, name, TK_INPUT, model_act_dtype(precision, DT_F32),
                          DIMS(transpose ? k : rows, transpose ? rows : k));
}

static void write_node(Builder *b, const Shape *p, Precision precision)
{
    const bool narrow = precision == PRECISION_FP8;
    const int x = write_operand(b, "a", precision, p->m, p->k, p->transpose_a);
    const int w = write_operand(b, "b", precision, p->n, p->k, !p->transpose_b);
    const int y =
        builder_tensor(b, "c", TK_ACTIVATION, model_act_dtype(precision, DT_F32), DIMS(p->m, p->n));
    const int scale = narrow ? builder_tensor(b, "scale", TK_INPUT, DT_F32, DIMS(1)) : PLAN_NONE;
    NodeAttr *attr = narrow ? builder_node(b, OP_scaled_matmul, IDS(y), IDS(x, w, scale, scale))
                            : builder_node(b, OP_matmul, IDS(y), IDS(x, w));
    attr->transpose_a = !narrow && p->transpose_a;
    attr->transpose_b = narrow || p->transpose_b;
    attr->tf32 = precision == PRECISION_TF32;
    if (b->status == ST_OK) b->plan->tensors[y].keep = true; /* no two share their memory */
}

static Status write_plan(Plan *plan, const Shape *p, Precision precision, int copies)
{
    Builder b;
    builder_init(&b, plan);
    b.phase = PHASE_FORWARD;
    builder_scope(&b, PLAN_NONE, "matmul");
    for (int i = 0; i < copies; i++) write_node(&b, p, precision);
    const Status status = b.status;
    builder_free(&b);
    return status;
}

static void pause_in(const LimitsBudget *budget)
{
    if (budget->pause) budget->pause(budget->self);
}

/* As often as the budget repeats; after two times only while they took less than `most` seconds. */
static Status time_matmul(const Placement *place, const Shape *p, Precision precision, int copies,
                          const LimitsBudget *budget, double most, Times *times)
{
    CLEANUP(timed_plan_close) TimedPlan timed = {0};
    double seconds = 0, spent = 0;
    TRY(write_plan(&timed.plan, p, precision, copies));
    TRY(timed_plan_open(&timed, place->backend, place->device, place->threads));
    TRY(timed_plan_choose_runs(&timed));
    pause_in(budget);
    times->n = 0;
    while (times->n < at_most(budget->repeats) && (times->n < 2 || spent < most)) {
        TRY(timed_plan_run(&timed, &seconds));
        pause_in(budget);
        times->seconds[times->n++] = seconds / ((double)copies * timed.runs);
        spent += seconds;
    }
    return ST_OK;
}

/* ---- large matmuls ---- */

/* From the smallest to the largest, ended by an empty one. */
static const Shape *large_shapes(BackendId backend)
{
#define SQUARE(n)            \
    {                        \
        n, n, n, false, true \
    }
    static const Shape of_cpu[] = {
        SQUARE(768),  SQUARE(1152),
        SQUARE(1536), {512, 8192, 2048, false, true}, /* as in training: faster than squares here */
        SQUARE(2304), SQUARE(3072),
        SQUARE(4608), SQUARE(6144),
        SQUARE(9216), {0},
    };
    static const Shape of_gpu[] = {
        SQUARE(2048),  SQUARE(4096), SQUARE(8192), {16384, 8192, 8192, false, true},
        SQUARE(12288), {0},
    };
#undef SQUARE
    return backend == BACKEND_cpu ? of_cpu : of_gpu;
}

/* How one of them is measured. */
typedef Status Measure(const Placement *place, const Shape *p, Precision precision,
                       const LimitsBudget *budget, Times *times);

static Status large_rates(const Placement *place, Precision precision, const LimitsBudget *budget,
                          Measure *measure, LimitsRate *out)
{
    *out = (LimitsRate){0};
    for (const Shape *p = large_shapes(place->backend); p->m > 0; p++) {
        Times times;
        if (out->n > 0 && flops_of(p) / out->max > budget->large) break;
        TRY(measure(place, p, precision, budget, &times));
        const LimitsRate here = rates_of(&times, flops_of(p));
        if (here.max > out->max) *out = here;
    }
    return ST_OK;
}

static Status engine_times(const Placement *place, const Shape *p, Precision precision,
                           const LimitsBudget *budget, Times *times)
{
    return time_matmul(place, p, precision, 1, budget, INFINITY, times);
}

Status limits_matmul_large(const Placement *place, Precision precision, const LimitsBudget *budget,
                           LimitsRate *out)
{
    return large_rates(place, precision, budget, engine_times, out);
}

/* ---- the BLAS library by itself ---- */

/* In large pages, as the engine's are. */
static Status allocate_numbers(int64_t n, void **memory)
{
    enum { PAGE = 2 << 20 };
    const size_t bytes = (size_t)i64_round_up(n * (int64_t)sizeof(float), PAGE);
    if (!(*memory = aligned_alloc(PAGE, bytes)))
        return NO_MEMORY("for %zu bytes of numbers", bytes);
    (void)madvise(*memory, bytes, MADV_HUGEPAGE);
    timed_plan_fill(*memory, DT_F32, n);
    return ST_OK;
}

/* Without the engine, which splits the work before it calls the library: see blas_cpu_openblas.c. */
static Status library_times(const Placement *place, const Shape *p, Precision precision,
                            const LimitsBudget *budget, Times *times)
{
    (void)precision;
    const int64_t a = p->m * p->k, b = p->k * p->n, c = p->m * p->n;
    const int64_t b_rows = p->transpose_b ? p->n : p->k, b_cols = p->transpose_b ? p->k : p->n;
    CLEANUP(array_free) void *memory = NULL;
    TRY(allocate_numbers(a + b + c, &memory));
    float *numbers = memory;
    const GemmOperands gemm = {.c = {numbers + a + b, DT_F32, p->m, p->n, p->n},
                               .a = {numbers, DT_F32, p->m, p->k, p->k},
                               .b = {numbers + a, DT_F32, b_rows, b_cols, b_cols},
                               .transpose_b = p->transpose_b,
                               .scale = 1};
    times->n = at_most(budget->repeats);
    blas_cpu_share_by_library(place->threads);
    for (int i = -1; i < times->n; i++) { /* the first one warms up */
        const double before = clock_seconds();
        blas_cpu_gemm(&gemm);
        if (i >= 0) times->seconds[i] = clock_seconds() - before;
    }
    blas_cpu_set_threads(place->threads);
    return ST_OK;
}

Status limits_matmul_library(const Placement *place, const LimitsBudget *budget, LimitsRate *out)
{
    return large_rates(place, PRECISION_FP32, budget, library_times, out);
}

/* ---- the matmuls of the model ---- */

enum { LAYERS = 5, PASSES = LIMITS_PASSES };

/* The weights of a linear layer, [out, in], and how many such layers the model has. */
typedef struct Layer {
    int64_t out, in, count;
} Layer;

/* q, k and v are one matmul, and so are the two halves of SwiGLU. */
static void model_layers(const Config *c, Layer layers[LAYERS])
{
    layers[0] = (Layer){3 * c->model.d_model, c->model.d_model, c->model.num_layers};
    layers[1] = (Layer){c->model.d_model, c->model.d_model, c->model.num_layers};
    layers[2] = (Layer){2 * c->model.d_ff, c->model.d_model, c->model.num_layers};
    layers[3] = (Layer){c->model.d_model, c->model.d_ff, c->model.num_layers};
    layers[4] = (Layer){c->model.vocab, c->model.d_model, 1};
}

static Shape pass_shape(const Layer *layer, int64_t N, int pass)
{
    const Shape passes[PASSES] = {
        {N, layer->out, layer->in, false, true},
        {N, layer->in, layer->out, false, false},
        {layer->out, layer->in, N, true, false},
    };
    return passes[pass];
}

/* A GPU's cache holds the weights of one layer but not all of a model: every copy has its own. */
static int copies_on(const Placement *place)
{
    return place->backend == BACKEND_cpu ? 1 : 8;
}

/* All matmuls of a pass, each as often as a step has it. A slow one has fewer times, which are used in
 * turn. */
static Status pass_rates(const Placement *place, const Config *model, int pass, Precision precision,
                         const LimitsBudget *budget, LimitsRate *out)
{
    Layer layers[LAYERS];
    Times total = {.n = at_most(budget->repeats)}, times;
    double flops = 0;
    model_layers(model, layers);
    for (int i = 0; i < LAYERS; i++) {
        const Shape p = pass_shape(&layers[i], model->batch * model->ctx, pass);
        const double count = (double)layers[i].count;
        TRY(time_matmul(place, &p, precision, copies_on(place), budget, budget->model, &times));
        flops += count * flops_of(&p);
        for (int k = 0; k < total.n; k++) total.seconds[k] += count * times.seconds[k % times.n];
    }
    *out = rates_of(&total, flops);
    return ST_OK;
}

Status limits_matmul_rows(const Placement *place, const Config *model, Precision precision,
                          const LimitsBudget *budget, LimitsScope scope, Limits *out)
{
    const int row = (int)limits_largest(precision);
    TRY(limits_matmul_large(place, precision, budget, &out->rate[row][scope]));
    for (int pass = 0; pass < PASSES; pass++)
        TRY(pass_rates(place, model, pass, precision, budget, &out->rate[row + 1 + pass][scope]));
    return ST_OK;
}
