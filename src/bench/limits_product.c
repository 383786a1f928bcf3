#include "bench/limits_product.h"

#include "base/clock.h"
#include "base/half.h"
#include "bench/limits_rate.h"
#include "exec/session.h"
#include "ops/blas_cpu.h"

#include <stdlib.h>

typedef struct Product {
    int64_t m, n, k;
    bool transpose_a, transpose_b;
} Product;

/* One product as a plan of one node. */
typedef struct Engine {
    Plan plan;
    Binding binding;
    Session session;
    double flops;
} Engine;

static DType dtype_of(Precision precision)
{
    return precision == PRECISION_BF16 ? DT_BF16 : precision == PRECISION_FP16 ? DT_F16 : DT_F32;
}

static Status write_plan(Plan *plan, const Product *p, DType dtype)
{
    Builder b;
    builder_init(&b, plan);
    b.phase = PHASE_FORWARD;
    builder_scope(&b, PLAN_NONE, "product");
    const bool ta = p->transpose_a, tb = p->transpose_b;
    const int x =
        builder_tensor(&b, "a", TK_INPUT, dtype, DIMS(ta ? p->k : p->m, ta ? p->m : p->k));
    const int w =
        builder_tensor(&b, "b", TK_INPUT, dtype, DIMS(tb ? p->n : p->k, tb ? p->k : p->n));
    const int y = builder_tensor(&b, "c", TK_ACTIVATION, dtype, DIMS(p->m, p->n));
    NodeAttr *attr = builder_node(&b, OP_matmul, IDS(y), IDS(x, w));
    attr->transpose_a = ta;
    attr->transpose_b = tb;
    const Status status = b.status;
    builder_free(&b);
    return status;
}

/* Small numbers of both signs: zeros and denormals may run at another speed. */
static Status fill(Session *s, int tensor)
{
    const Tensor *t = &s->plan->tensors[tensor];
    const int64_t n = plan_elements(t);
    void *data = malloc(plan_bytes(t));
    if (!data) return FAIL(ST_NO_MEMORY, "no memory for %zu bytes of numbers", plan_bytes(t));
    for (int64_t i = 0; i < n; i++) {
        const float x = (float)(i * 37 % 101 - 50) / 64.0F;
        if (t->dtype == DT_F32) ((float *)data)[i] = x;
        if (t->dtype == DT_BF16) ((uint16_t *)data)[i] = half_to_bf16(x);
        if (t->dtype == DT_F16) ((uint16_t *)data)[i] = half_to_f16(x);
    }
    const Status status = session_upload(s, tensor, data);
    free(data);
    return status;
}

static void close_engine(Engine *e)
{
    session_close(&e->session);
    binding_free(&e->binding);
    plan_free(&e->plan);
}

static Status start(Engine *e, const Product *p, DType dtype, int threads)
{
    TRY(write_plan(&e->plan, p, dtype));
    TRY(binding_make(&e->binding, &e->plan, BACKEND_cpu, threads, false));
    TRY(session_open(&e->session, &e->binding, 0));
    TRY(fill(&e->session, 0));
    TRY(fill(&e->session, 1));
    blas_cpu_set_threads(threads);
    return session_run(&e->session, PHASE_FORWARD); /* pages, caches and threads are warm now */
}

static Status open_engine(Engine *e, const Product *p, Precision precision, int threads)
{
    *e = (Engine){.flops = 2.0 * (double)p->m * (double)p->n * (double)p->k};
    plan_init(&e->plan);
    const Status status = start(e, p, dtype_of(precision), threads);
    if (status != ST_OK) close_engine(e);
    return status;
}

static Status time_once(Engine *e, double *seconds)
{
    const double start_time = clock_seconds();
    TRY(session_run(&e->session, PHASE_FORWARD));
    *seconds = clock_seconds() - start_time;
    return ST_OK;
}

static int at_most(int repeats)
{
    return repeats < LIMITS_RATE_MAX ? repeats : LIMITS_RATE_MAX;
}

static Status square_rates(int64_t size, Precision precision, int threads, int repeats,
                           LimitsRate *out)
{
    Engine e;
    double rates[LIMITS_RATE_MAX];
    const Product p = {size, size, size, false, true};
    TRY(open_engine(&e, &p, precision, threads));
    Status status = ST_OK;
    for (int i = 0; status == ST_OK && i < repeats; i++) {
        double seconds = 1;
        status = time_once(&e, &seconds);
        rates[i] = e.flops / seconds;
    }
    if (status == ST_OK) *out = limits_rate_of(rates, repeats);
    close_engine(&e);
    return status;
}

Status limits_product_square(Precision precision, int threads, const LimitsBudget *budget,
                             LimitsRate *out)
{
    static const int64_t sizes[] = {768, 1152, 1536, 2304, 3072, 4608, 6144, 9216};
    const int repeats = at_most(budget->repeats);
    *out = (LimitsRate){0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        LimitsRate here;
        const double n = (double)sizes[i], flops = 2 * n * n * n;
        if (out->n > 0 && flops / out->max > budget->square) break;
        TRY(square_rates(sizes[i], precision, threads, repeats, &here));
        if (here.max > out->max) *out = here;
    }
    return ST_OK;
}

enum { LAYERS = 4, PASSES = 3 };

/* Products of N tokens with the weights of a block and with the head, as [out, in] and how many. */
typedef struct Layer {
    int64_t out, in, count;
} Layer;

static void model_layers(const Config *c, Layer layers[LAYERS])
{
    layers[0] = (Layer){c->d_model, c->d_model, 4 * c->num_layers};
    layers[1] = (Layer){c->d_ff, c->d_model, 2 * c->num_layers};
    layers[2] = (Layer){c->d_model, c->d_ff, c->num_layers};
    layers[3] = (Layer){c->vocab, c->d_model, 1};
}

static Product pass_product(const Layer *layer, int64_t N, int pass)
{
    const Product passes[PASSES] = {
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
static Status product_times(Engine *e, double budget, int most, double *seconds, int *n)
{
    double spent = 0;
    for (*n = 0; *n < most && (*n < 2 || spent < budget); (*n)++) {
        TRY(time_once(e, &seconds[*n]));
        spent += seconds[*n];
    }
    return ST_OK;
}

/* Adds one product to every repetition of the total, as often as a step has it; a slow one, timed
 * fewer times, adds the times it has in turn. */
static Status add_product(const Product *p, int64_t count, Precision precision, int threads,
                          double budget, int repeats, Total *total)
{
    Engine e;
    double seconds[LIMITS_RATE_MAX];
    int n = 0;
    TRY(open_engine(&e, p, precision, threads));
    const Status status = product_times(&e, budget, repeats, seconds, &n);
    for (int i = 0; status == ST_OK && i < repeats; i++) {
        total->seconds[i] += (double)count * seconds[i % n];
    }
    total->flops += (double)count * e.flops;
    close_engine(&e);
    return status;
}

Status limits_product_model(const char *size, Precision precision, int threads,
                            const LimitsBudget *budget, LimitsRate out[3])
{
    Config config;
    Layer layers[LAYERS];
    const int repeats = at_most(budget->repeats);
    config_defaults(&config);
    TRY(config_preset(&config, size));
    model_layers(&config, layers);
    for (int pass = 0; pass < PASSES; pass++) {
        Total total = {0};
        for (int i = 0; i < LAYERS; i++) {
            const Product p = pass_product(&layers[i], config.batch * config.ctx, pass);
            TRY(add_product(&p, layers[i].count, precision, threads, budget->model, repeats,
                            &total));
        }
        for (int i = 0; i < repeats; i++) total.seconds[i] = total.flops / total.seconds[i];
        out[pass] = limits_rate_of(total.seconds, repeats);
    }
    return ST_OK;
}
