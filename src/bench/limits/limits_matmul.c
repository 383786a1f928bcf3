#include "bench/limits/limits_matmul.h"

#include "base/clock.h"
#include "base/float16.h"
#include "base/rng.h"
#include "bench/limits/limits_rate.h"
#include "exec/session.h"
#include "ops/gemm_cpu/blas_cpu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct Shape {
    int64_t m, n, k;
    bool transpose_a, transpose_b;
} Shape;

/* One product as a plan of `copies` nodes, each with operands of its own. */
typedef struct Engine {
    Plan plan;
    Binding binding;
    Session session;
    int copies, runs; /* nodes of the plan; how often it runs for one time */
    double flops;     /* of one node */
} Engine;

const LimitsBudget limits_matmul_budget = {.large = 0.15, .model = 0.06, .repeats = 5};

static DType dtype_of(Precision precision)
{
    return precision == PRECISION_BF16 ? DT_BF16 : precision == PRECISION_FP16 ? DT_F16 : DT_F32;
}

/* ---- the plan ---- */

enum { A, B, C, OPERANDS }; /* tensors of copy i: OPERANDS * i + A, ... */

static void write_node(Builder *b, const Shape *p, DType dtype, bool tf32)
{
    const bool ta = p->transpose_a, tb = p->transpose_b;
    const int x = builder_tensor(b, "a", TK_INPUT, dtype, DIMS(ta ? p->k : p->m, ta ? p->m : p->k));
    const int w = builder_tensor(b, "b", TK_INPUT, dtype, DIMS(tb ? p->n : p->k, tb ? p->k : p->n));
    const int y = builder_tensor(b, "c", TK_ACTIVATION, dtype, DIMS(p->m, p->n));
    NodeAttr *attr = builder_node(b, OP_matmul, IDS(y), IDS(x, w));
    attr->transpose_a = ta;
    attr->transpose_b = tb;
    attr->tf32 = tf32;
    if (b->status == ST_OK) b->plan->tensors[y].keep = true; /* no two share their memory */
}

static Status write_plan(Engine *e, const Shape *p, Precision precision)
{
    Builder b;
    builder_init(&b, &e->plan);
    b.phase = PHASE_FORWARD;
    builder_scope(&b, PLAN_NONE, "product");
    for (int i = 0; i < e->copies; i++) {
        write_node(&b, p, dtype_of(precision), precision == PRECISION_TF32);
    }
    const Status status = b.status;
    builder_free(&b);
    return status;
}

/* ---- operands ---- */

/* Random bits in [-1, 1), a prime number of them over and over: zeros and regular patterns switch
 * fewer transistors, and a GPU at its power limit then runs faster than it does in training. */
enum { PATTERN = 1048573 };

static void put_number(void *data, DType dtype, int64_t at, float x)
{
    if (dtype == DT_F32) ((float *)data)[at] = x;
    if (dtype == DT_BF16) ((uint16_t *)data)[at] = float16_to_bf16(x);
    if (dtype == DT_F16) ((uint16_t *)data)[at] = float16_to_f16(x);
}

static void fill_pattern(void *data, DType dtype, int64_t n)
{
    const size_t size = plan_dtype_size(dtype);
    const int64_t first = n < PATTERN ? n : PATTERN;
    for (int64_t i = 0; i < first; i++) {
        put_number(data, dtype, i, (float)(2 * rng_uniform(1, 0, (uint64_t)i) - 1));
    }
    for (int64_t i = first; i < n; i += PATTERN) {
        const int64_t here = n - i < PATTERN ? n - i : PATTERN;
        memcpy((char *)data + (size_t)i * size, data, (size_t)here * size);
    }
}

/* The operand of every copy. */
static Status fill(Engine *e, int operand)
{
    const Tensor *t = &e->plan.tensors[operand];
    void *data = malloc(plan_bytes(t));
    if (!data) return NO_MEMORY("for %zu bytes of numbers", plan_bytes(t));
    fill_pattern(data, t->dtype, plan_elements(t));
    Status status = ST_OK;
    for (int i = 0; status == ST_OK && i < e->copies; i++) {
        status = session_upload(&e->session, OPERANDS * i + operand, data);
    }
    free(data);
    return status;
}

/* ---- running ---- */

static void close_engine(Engine *e)
{
    session_close(&e->session);
    binding_free(&e->binding);
    plan_free(&e->plan);
}

/* Everything is warm after a first run; small products are then launched together where they can. */
static Status warm_up(Engine *e)
{
    TRY(session_run(&e->session, PHASE_FORWARD));
    if (!e->session.api->capture_begin) return ST_OK;
    TRY(e->session.api->sync(e->session.backend));
    TRY(session_capture(&e->session));
    return session_run(&e->session, PHASE_FORWARD);
}

static Status start(Engine *e, const Placement *place, const Shape *p, Precision precision)
{
    TRY(write_plan(e, p, precision));
    TRY(binding_make(&e->binding, &e->plan, place->backend, place->threads, NULL));
    TRY(session_open(&e->session, &e->binding, place->device));
    TRY(fill(e, A));
    TRY(fill(e, B));
    if (place->backend == BACKEND_cpu) blas_cpu_set_threads(place->threads);
    return warm_up(e);
}

static Status open_engine(Engine *e, const Placement *place, const Shape *p, Precision precision,
                          int copies)
{
    *e = (Engine){
        .flops = 2.0 * (double)p->m * (double)p->n * (double)p->k, .copies = copies, .runs = 1};
    plan_init(&e->plan);
    const Status status = start(e, place, p, precision);
    if (status != ST_OK) close_engine(e);
    return status;
}

/* By the device's own clock where work is queued. */
static Status time_queue(Engine *e, double *seconds)
{
    const BackendApi *api = e->session.api;
    TRY(api->mark(e->session.backend, 0));
    for (int i = 0; i < e->runs; i++) TRY(session_run(&e->session, PHASE_FORWARD));
    TRY(api->mark(e->session.backend, 1));
    return api->elapsed(e->session.backend, 0, 1, seconds);
}

static Status time_calls(Engine *e, double *seconds)
{
    const double start_time = clock_seconds();
    for (int i = 0; i < e->runs; i++) TRY(session_run(&e->session, PHASE_FORWARD));
    *seconds = clock_seconds() - start_time;
    return ST_OK;
}

/* Seconds of one product. */
static Status time_once(Engine *e, const LimitsBudget *budget, double *seconds)
{
    TRY(e->session.api->mark ? time_queue(e, seconds) : time_calls(e, seconds));
    *seconds /= (double)e->copies * e->runs;
    if (budget->pause) budget->pause(budget->self);
    return ST_OK;
}

/* A queue's time is taken over several milliseconds: marks and launches cost microseconds. */
static Status choose_runs(Engine *e, const LimitsBudget *budget)
{
    static const double long_enough = 5e-3;
    enum { MOST = 1000 };
    double seconds = 0;
    if (!e->session.api->mark) return ST_OK;
    TRY(time_once(e, budget, &seconds));
    const double runs = long_enough / (seconds * e->copies);
    e->runs = runs < 1 ? 1 : runs > MOST ? MOST : (int)runs + 1;
    return ST_OK;
}

static int at_most(int repeats)
{
    return repeats < LIMITS_RATE_MAX ? repeats : LIMITS_RATE_MAX;
}

/* ---- large products ---- */

static Status engine_rates(Engine *e, const LimitsBudget *budget, LimitsRate *out)
{
    double rates[LIMITS_RATE_MAX];
    const int repeats = at_most(budget->repeats);
    TRY(choose_runs(e, budget));
    for (int i = 0; i < repeats; i++) {
        double seconds = 1;
        TRY(time_once(e, budget, &seconds));
        rates[i] = e->flops / seconds;
    }
    *out = limits_rate_of(rates, repeats);
    return ST_OK;
}

static Status shape_rates(const Placement *place, const Shape *p, Precision precision,
                          const LimitsBudget *budget, LimitsRate *out)
{
    Engine e;
    TRY(open_engine(&e, place, p, precision, 1));
    const Status status = engine_rates(&e, budget, out);
    close_engine(&e);
    return status;
}

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
                       const LimitsBudget *budget, LimitsRate *out);

static Status large_rates(const Placement *place, Precision precision, const LimitsBudget *budget,
                          Measure *measure, LimitsRate *out)
{
    *out = (LimitsRate){0};
    for (const Shape *p = large_shapes(place->backend); p->m > 0; p++) {
        LimitsRate here;
        const double flops = 2 * (double)p->m * (double)p->n * (double)p->k;
        if (out->n > 0 && flops / out->max > budget->large) break;
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

static LimitsRate library_times(const Shape *p, const float *a, const float *b, float *c,
                                int repeats)
{
    double rates[LIMITS_RATE_MAX];
    const BlasGemm gemm = {.dtype = DT_F32,
                           .transpose_b = p->transpose_b,
                           .m = p->m,
                           .n = p->n,
                           .k = p->k,
                           .alpha = 1,
                           .a = a,
                           .b = b,
                           .c = c,
                           .lda = p->k,
                           .ldb = p->transpose_b ? p->k : p->n,
                           .ldc = p->n};
    for (int i = -1; i < repeats; i++) { /* the first one warms up */
        const double before = clock_seconds();
        blas_cpu_gemm(&gemm);
        const double flops = 2.0 * (double)p->m * (double)p->n * (double)p->k;
        if (i >= 0) rates[i] = flops / (clock_seconds() - before);
    }
    return limits_rate_of(rates, repeats);
}

/* In large pages, as the engine's are. */
static Status place_numbers(int64_t n, void **memory)
{
    enum { PAGE = 2 << 20 };
    const size_t bytes = ((size_t)n * sizeof(float) + PAGE - 1) / PAGE * PAGE;
    if (!(*memory = aligned_alloc(PAGE, bytes)))
        return NO_MEMORY("for %zu bytes of numbers", bytes);
    (void)madvise(*memory, bytes, MADV_HUGEPAGE);
    fill_pattern(*memory, DT_F32, n);
    return ST_OK;
}

/* Without the engine, which has the library share nothing out: see blas_cpu_openblas.c. */
static Status library_rates(const Placement *place, const Shape *p, Precision precision,
                            const LimitsBudget *budget, LimitsRate *out)
{
    (void)precision;
    const int64_t a = p->m * p->k, b = p->k * p->n, c = p->m * p->n;
    void *memory;
    TRY(place_numbers(a + b + c, &memory));
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

/* ---- the model's products ---- */

enum { LAYERS = 5, PASSES = LIMITS_PASSES };

/* Products of N tokens with the weights of a block and with the head, as [out, in] and how many. */
typedef struct Layer {
    int64_t out, in, count;
} Layer;

/* q, k and v are one product, and so are the two halves of SwiGLU. */
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

typedef struct Total {
    double flops, seconds[LIMITS_RATE_MAX];
} Total;

/* Between 2 and `most` times of one product, as many as fit the budget. */
static Status product_times(Engine *e, const LimitsBudget *budget, int most, double *seconds,
                            int *n)
{
    double spent = 0;
    TRY(choose_runs(e, budget));
    for (*n = 0; *n < most && (*n < 2 || spent < budget->model); (*n)++) {
        TRY(time_once(e, budget, &seconds[*n]));
        spent += seconds[*n] * e->copies * e->runs;
    }
    return ST_OK;
}

/* A GPU's cache holds the weights of one layer but not those of a model: every copy has its own. */
static int copies_on(const Placement *place)
{
    return place->backend == BACKEND_cpu ? 1 : 8;
}

/* Adds one product to every repetition of the total, as often as a step has it; a slow one, timed
 * fewer times, adds the times it has in turn. */
static Status add_product(const Placement *place, const Shape *p, int64_t count,
                          Precision precision, const LimitsBudget *budget, Total *total)
{
    Engine e;
    double seconds[LIMITS_RATE_MAX];
    const int repeats = at_most(budget->repeats);
    int n = 0;
    TRY(open_engine(&e, place, p, precision, copies_on(place)));
    const Status status = product_times(&e, budget, repeats, seconds, &n);
    for (int i = 0; status == ST_OK && i < repeats; i++) {
        total->seconds[i] += (double)count * seconds[i % n];
    }
    total->flops += (double)count * e.flops;
    close_engine(&e);
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
            const Shape p = pass_shape(&layers[i], model->batch * model->ctx, pass);
            TRY(add_product(place, &p, layers[i].count, precision, budget, &total));
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
