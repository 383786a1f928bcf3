#include "bench/limits/limits_engine.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/i64.h"
#include "base/rng.h"
#include "model/model.h"
#include "ops/element.h"
#include "ops/gemm_cpu/blas_cpu.h"

#include <stdlib.h>
#include <string.h>

double limits_engine_flops(const LimitsShape *p)
{
    return 2.0 * (double)p->m * (double)p->n * (double)p->k;
}

/* ---- the plan ---- */

enum { A, B, C, OPERANDS }; /* tensors of copy i: OPERANDS * i + A, ... */

static void write_node(Builder *b, const LimitsShape *p, DType dtype, bool tf32)
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

static Status write_plan(LimitsEngine *e, const LimitsShape *p, Precision precision)
{
    Builder b;
    builder_init(&b, &e->plan);
    b.phase = PHASE_FORWARD;
    builder_scope(&b, PLAN_NONE, "matmul");
    for (int i = 0; i < e->copies; i++) {
        write_node(&b, p, model_act_dtype(precision, DT_F32), precision == PRECISION_TF32);
    }
    const Status status = b.status;
    builder_free(&b);
    return status;
}

/* ---- operands ---- */

/* Random numbers in [-1, 1), a prime number of them over and over: zeros and regular patterns switch
 * fewer transistors, and a GPU at its power limit then runs faster than it does in training. */
enum { PATTERN = 1048573 };

void limits_engine_fill(void *data, DType dtype, int64_t n)
{
    const size_t size = plan_dtype_size(dtype);
    const int64_t first = i64_min(n, PATTERN);
    for (int64_t i = 0; i < first; i++) {
        element_set(data, dtype, i, 2 * rng_uniform(1, 0, (uint64_t)i) - 1);
    }
    for (int64_t i = first; i < n; i += PATTERN) {
        const int64_t here = n - i < PATTERN ? n - i : PATTERN;
        memcpy((char *)data + (size_t)i * size, data, (size_t)here * size);
    }
}

/* The operand of every copy. */
static Status fill(LimitsEngine *e, int operand)
{
    const Tensor *t = &e->plan.tensors[operand];
    CLEANUP(array_free) void *data = malloc(plan_bytes(t));
    if (!data) return NO_MEMORY("for %zu bytes of numbers", plan_bytes(t));
    limits_engine_fill(data, t->dtype, plan_elements(t));
    Status status = ST_OK;
    for (int i = 0; status == ST_OK && i < e->copies; i++) {
        status = session_upload(&e->session, OPERANDS * i + operand, data);
    }
    return status;
}

/* ---- running ---- */

void limits_engine_close(LimitsEngine *e)
{
    session_close(&e->session);
    binding_free(&e->binding);
    plan_free(&e->plan);
}

/* Everything is warm after a first run; a GPU then replays the launches as a graph. */
static Status warm_up(LimitsEngine *e)
{
    TRY(session_run(&e->session, PHASE_FORWARD));
    if (!e->session.api->capture_begin) return ST_OK;
    TRY(e->session.api->sync(e->session.backend));
    TRY(session_capture(&e->session));
    return session_run(&e->session, PHASE_FORWARD);
}

static Status start(LimitsEngine *e, const Placement *place, const LimitsShape *p,
                    Precision precision)
{
    TRY(write_plan(e, p, precision));
    TRY(binding_make(&e->binding, &e->plan, place->backend, place->threads, NULL));
    TRY(session_open(&e->session, &e->binding, place->device));
    TRY(fill(e, A));
    TRY(fill(e, B));
    if (place->backend == BACKEND_cpu) blas_cpu_set_threads(place->threads);
    return warm_up(e);
}

Status limits_engine_open(LimitsEngine *e, const Placement *place, const LimitsShape *p,
                          Precision precision, int copies)
{
    *e = (LimitsEngine){.flops = limits_engine_flops(p), .copies = copies, .runs = 1};
    plan_init(&e->plan);
    const Status status = start(e, place, p, precision);
    if (status != ST_OK) limits_engine_close(e);
    return status;
}

static Status run_all(LimitsEngine *e)
{
    for (int i = 0; i < e->runs; i++) TRY(session_run(&e->session, PHASE_FORWARD));
    return ST_OK;
}

/* By the device's own clock where work is queued. */
static Status time_runs(LimitsEngine *e, double *seconds)
{
    const BackendApi *api = e->session.api;
    const double start_time = clock_seconds();
    if (api->mark) TRY(api->mark(e->session.backend, 0));
    TRY(run_all(e));
    *seconds = clock_seconds() - start_time;
    if (!api->mark) return ST_OK;
    TRY(api->mark(e->session.backend, 1));
    return api->elapsed(e->session.backend, 0, 1, seconds);
}

Status limits_engine_time(LimitsEngine *e, const LimitsBudget *budget, double *seconds)
{
    TRY(time_runs(e, seconds));
    *seconds /= (double)e->copies * e->runs;
    if (budget->pause) budget->pause(budget->self);
    return ST_OK;
}

/* A queue is timed over several milliseconds: marks and launches cost microseconds. */
Status limits_engine_choose_runs(LimitsEngine *e, const LimitsBudget *budget)
{
    static const double long_enough = 5e-3;
    enum { MOST = 1000 };
    double seconds = 0;
    if (!e->session.api->mark) return ST_OK;
    TRY(limits_engine_time(e, budget, &seconds));
    const double runs = long_enough / (seconds * e->copies);
    e->runs = runs < 1 ? 1 : runs > MOST ? MOST : (int)runs + 1;
    return ST_OK;
}
