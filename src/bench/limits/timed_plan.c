#include "bench/limits/timed_plan.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/i64.h"
#include "base/rng.h"
#include "ops/element.h"
#include "ops/gemm_cpu/blas_cpu.h"

#include <stdlib.h>
#include <string.h>

/* Random numbers, a prime number of them over and over: zeros and regular patterns switch fewer transistors,
 * and a GPU at its power limit then runs faster than it does in training. */
enum { PATTERN = 1048573 };

void timed_plan_fill(void *data, DType dtype, int64_t n)
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

static bool is_input(const Tensor *t, DType dtype)
{
    return t->kind == TK_INPUT && t->base == PLAN_NONE && t->dtype == dtype;
}

/* Every input of that dtype begins with the same numbers. */
static Status fill_inputs(TimedPlan *t, DType dtype)
{
    int64_t most = 0;
    for (int i = 0; i < t->plan.n_tensors; i++) {
        const Tensor *input = &t->plan.tensors[i];
        if (is_input(input, dtype)) most = i64_max(most, plan_elements(input));
    }
    if (most == 0) return ST_OK;
    const size_t bytes = (size_t)most * plan_dtype_size(dtype);
    CLEANUP(array_free) void *data = malloc(bytes);
    if (!data) return NO_MEMORY("for %zu bytes of numbers", bytes);
    timed_plan_fill(data, dtype, most);
    for (int i = 0; i < t->plan.n_tensors; i++) {
        if (is_input(&t->plan.tensors[i], dtype)) TRY(session_upload(&t->session, i, data));
    }
    return ST_OK;
}

void timed_plan_close(TimedPlan *t)
{
    session_close(&t->session);
    binding_free(&t->binding);
    plan_free(&t->plan);
}

/* Everything is warm after a first run; a GPU then replays the launches as a graph. */
static Status warm_up(TimedPlan *t)
{
    TRY(session_run(&t->session, PHASE_FORWARD));
    if (!t->session.api->capture_begin) return ST_OK;
    TRY(t->session.api->sync(t->session.backend));
    TRY(session_capture(&t->session));
    return session_run(&t->session, PHASE_FORWARD);
}

Status timed_plan_open(TimedPlan *t, BackendId backend, int device, int threads)
{
    t->runs = 1;
    TRY(binding_make(&t->binding, &t->plan, backend, threads, NULL));
    TRY(session_open(&t->session, &t->binding, device));
    for (int dtype = 0; dtype < DT_COUNT; dtype++) TRY(fill_inputs(t, (DType)dtype));
    if (backend == BACKEND_cpu) blas_cpu_set_threads(threads);
    return warm_up(t);
}

Status timed_plan_run(TimedPlan *t, double *seconds)
{
    const BackendApi *api = t->session.api;
    const double start = clock_seconds();
    if (api->mark) TRY(api->mark(t->session.backend, 0));
    for (int i = 0; i < t->runs; i++) TRY(session_run(&t->session, PHASE_FORWARD));
    *seconds = clock_seconds() - start;
    if (!api->mark) return ST_OK;
    TRY(api->mark(t->session.backend, 1));
    return api->elapsed(t->session.backend, 0, 1, seconds);
}

Status timed_plan_choose_runs(TimedPlan *t)
{
    static const double long_enough = 5e-3;
    enum { MOST = 1000 };
    double seconds = 0;
    if (!t->session.api->mark) return ST_OK;
    TRY(timed_plan_run(t, &seconds));
    const double runs = long_enough / seconds;
    t->runs = runs < 1 ? 1 : runs > MOST ? MOST : (int)runs + 1;
    return ST_OK;
}
