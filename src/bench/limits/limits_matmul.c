#include "bench/limits/limits_matmul.h"

#include "base/clock.h"
#include "base/i64.h"
#include "bench/limits/limits_engine.h"
#include "ops/gemm_cpu/blas_cpu.h"

#include <stdlib.h>
#include <sys/mman.h>

const LimitsBudget limits_matmul_budget = {.large = 0.15, .model = 0.06, .repeats = 5};

static int at_most(int repeats)
{
    return repeats < LIMITS_MAX_REPEATS ? repeats : LIMITS_MAX_REPEATS;
}

/* ---- large matmuls ---- */

static Status engine_rates(LimitsEngine *e, const LimitsBudget *budget, LimitsRate *out)
{
    double rates[LIMITS_MAX_REPEATS];
    const int repeats = at_most(budget->repeats);
    TRY(limits_engine_choose_runs(e, budget));
    for (int i = 0; i < repeats; i++) {
        double seconds = 1;
        TRY(limits_engine_time(e, budget, &seconds));
        rates[i] = e->flops / seconds;
    }
    *out = limits_rate_of(rates, repeats);
    return ST_OK;
}

static Status shape_rates(const Placement *place, const LimitsShape *p, Precision precision,
                          const LimitsBudget *budget, LimitsRate *out)
{
    LimitsEngine e;
    TRY(limits_engine_open(&e, place, p, precision, 1));
    const Status status = engine_rates(&e, budget, out);
    limits_engine_close(&e);
    return status;
}

/* From the smallest to the largest, ended by an empty one. */
static const LimitsShape *large_shapes(BackendId backend)
{
#define SQUARE(n)            \
    {                        \
        n, n, n, false, true \
    }
    static const LimitsShape of_cpu[] = {
        SQUARE(768),  SQUARE(1152),
        SQUARE(1536), {512, 8192, 2048, false, true}, /* as in training: faster than squares here */
        SQUARE(2304), SQUARE(3072),
        SQUARE(4608), SQUARE(6144),
        SQUARE(9216), {0},
    };
    static const LimitsShape of_gpu[] = {
        SQUARE(2048),  SQUARE(4096), SQUARE(8192), {16384, 8192, 8192, false, true},
        SQUARE(12288), {0},
    };
#undef SQUARE
    return backend == BACKEND_cpu ? of_cpu : of_gpu;
}

/* How one of them is measured. */
typedef Status Measure(const Placement *place, const LimitsShape *p, Precision precision,
                       const LimitsBudget *budget, LimitsRate *out);

static Status large_rates(const Placement *place, Precision precision, const LimitsBudget *budget,
                          Measure *measure, LimitsRate *out)
{
    *out = (LimitsRate){0};
    for (const LimitsShape *p = large_shapes(place->backend); p->m > 0; p++) {
        LimitsRate here;
        if (out->n > 0 && limits_engine_flops(p) / out->max > budget->large) break;
        TRY(measure(place, p, precision, budget, &here));
        if (here.max > out->max) *out = here;
    }
    return ST_OK;
}

Status limits_matmul_large(const Placement *place, Precision precision, const LimitsBudget *budget,
                           LimitsRate *out)
{
    return large_rates(place, precision, budget, shape_rates, out);
}

/* ---- the BLAS library by itself ---- */

static LimitsRate library_times(const LimitsShape *p, float *a, float *b, float *c, int repeats)
{
    double rates[LIMITS_MAX_REPEATS];
    const int64_t b_rows = p->transpose_b ? p->n : p->k, b_cols = p->transpose_b ? p->k : p->n;
    const GemmOperands gemm = {.c = {c, DT_F32, p->m, p->n, p->n},
                               .a = {a, DT_F32, p->m, p->k, p->k},
                               .b = {b, DT_F32, b_rows, b_cols, b_cols},
                               .transpose_b = p->transpose_b,
                               .scale = 1};
    for (int i = -1; i < repeats; i++) { /* the first one warms up */
        const double before = clock_seconds();
        blas_cpu_gemm(&gemm);
        if (i >= 0) rates[i] = limits_engine_flops(p) / (clock_seconds() - before);
    }
    return limits_rate_of(rates, repeats);
}

/* In large pages, as the engine's are. */
static Status allocate_numbers(int64_t n, void **memory)
{
    enum { PAGE = 2 << 20 };
    const size_t bytes = (size_t)i64_round_up(n * (int64_t)sizeof(float), PAGE);
    if (!(*memory = aligned_alloc(PAGE, bytes)))
        return NO_MEMORY("for %zu bytes of numbers", bytes);
    (void)madvise(*memory, bytes, MADV_HUGEPAGE);
    limits_engine_fill(*memory, DT_F32, n);
    return ST_OK;
}

/* Without the engine, which splits the work before it calls the library: see blas_cpu_openblas.c. */
static Status library_rates(const Placement *place, const LimitsShape *p, Precision precision,
                            const LimitsBudget *budget, LimitsRate *out)
{
    (void)precision;
    const int64_t a = p->m * p->k, b = p->k * p->n, c = p->m * p->n;
    void *memory;
    TRY(allocate_numbers(a + b + c, &memory));
    float *numbers = memory;
    blas_cpu_share_by_library(place->threads);
    *out = library_times(p, numbers, numbers + a, numbers + a + b, at_most(budget->repeats));
    blas_cpu_set_threads(place->threads);
    free(memory);
    return ST_OK;
}

Status limits_matmul_library(const Placement *place, const LimitsBudget *budget, LimitsRate *out)
{
    return large_rates(place, PRECISION_FP32, budget, library_rates, out);
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

static LimitsShape pass_shape(const Layer *layer, int64_t N, int pass)
{
    const LimitsShape passes[PASSES] = {
        {N, layer->out, layer->in, false, true},
        {N, layer->in, layer->out, false, false},
        {layer->out, layer->in, N, true, false},
    };
    return passes[pass];
}

typedef struct Total {
    double flops, seconds[LIMITS_MAX_REPEATS];
} Total;

/* Between 2 and `most` times of one matmul, as many as fit the budget. */
static Status matmul_times(LimitsEngine *e, const LimitsBudget *budget, int most, double *seconds,
                           int *n)
{
    double spent = 0;
    TRY(limits_engine_choose_runs(e, budget));
    for (*n = 0; *n < most && (*n < 2 || spent < budget->model); (*n)++) {
        TRY(limits_engine_time(e, budget, &seconds[*n]));
        spent += seconds[*n] * e->copies * e->runs;
    }
    return ST_OK;
}

/* A GPU's cache holds the weights of one layer but not all of a model: every copy has its own. */
static int copies_on(const Placement *place)
{
    return place->backend == BACKEND_cpu ? 1 : 8;
}

/* Adds one matmul to every repetition of the total, as often as a step has it. A slow one has fewer
 * times, which are used in turn. */
static Status add_matmul(const Placement *place, const LimitsShape *p, int64_t count,
                         Precision precision, const LimitsBudget *budget, Total *total)
{
    LimitsEngine e;
    double seconds[LIMITS_MAX_REPEATS];
    const int repeats = at_most(budget->repeats);
    int n = 0;
    TRY(limits_engine_open(&e, place, p, precision, copies_on(place)));
    const Status status = matmul_times(&e, budget, repeats, seconds, &n);
    for (int i = 0; status == ST_OK && i < repeats; i++) {
        total->seconds[i] += (double)count * seconds[i % n];
    }
    total->flops += (double)count * e.flops;
    limits_engine_close(&e);
    return status;
}

Status limits_matmul_model(const Placement *place, const Config *model, Precision precision,
                           const LimitsBudget *budget, LimitsRate out[3])
{
    Layer layers[LAYERS];
    const int repeats = at_most(budget->repeats);
    model_layers(model, layers);
    for (int pass = 0; pass < PASSES; pass++) {
        Total total = {0};
        for (int i = 0; i < LAYERS; i++) {
            const LimitsShape p = pass_shape(&layers[i], model->batch * model->ctx, pass);
            TRY(add_matmul(place, &p, layers[i].count, precision, budget, &total));
        }
        for (int i = 0; i < repeats; i++) total.seconds[i] = total.flops / total.seconds[i];
        out[pass] = limits_rate_of(total.seconds, repeats);
    }
    return ST_OK;
}

Status limits_matmul_rows(const Placement *place, const Config *model, Precision precision,
                          const LimitsBudget *budget, LimitsScope scope, Limits *out)
{
    const int row = (int)limits_largest(precision);
    LimitsRate passes[PASSES];
    TRY(limits_matmul_large(place, precision, budget, &out->rate[row][scope]));
    TRY(limits_matmul_model(place, model, precision, budget, passes));
    for (int p = 0; p < PASSES; p++) out->rate[row + 1 + p][scope] = passes[p];
    return ST_OK;
}
