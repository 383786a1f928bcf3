#include "bench/study/reference_step.h"

#include "backend/cpu_info.h"
#include "base/clock.h"
#include "base/human.h"
#include "exec/init.h"

#include <stdlib.h>

static const Tensor *shape(const ReferenceStep *r, int id)
{
    return &r->model.plan.tensors[id];
}

/* Backward turns the logits into their gradient: they are taken in between. */
static Status run_phases(ReferenceStep *r, Session *session)
{
    TRY(init_session(session, &r->model));
    TRY(session_run(session, PHASE_FORWARD));
    TRY(session_download(session, r->model.loss, &r->loss));
    TRY(session_download(session, r->model.logits, r->logits));
    TRY(session_run(session, PHASE_BACKWARD));
    double *to = r->grads;
    for (int i = 0; i < r->model.n_params; i++) {
        const int grad = r->model.params[i].grad;
        TRY(session_download(session, grad, to));
        to += plan_elements(shape(r, grad));
    }
    return ST_OK;
}

static Status check_memory(ReferenceStep *r, const Binding *binding)
{
    const size_t limit = (size_t)r->model.config.memory_limit;
    size_t available = 0;
    const size_t results =
        plan_bytes(shape(r, r->model.logits)) + (size_t)r->model.n_elements * sizeof(double);
    const size_t need = mem_plan_total(&binding->mem) + results;
    TRY(cpu_info_memory_available(&available));
    if (limit > 0 && limit < available) available = limit;
    r->too_large = need > available;
    if (!r->too_large) return ST_OK;
    return FAIL(ST_NO_MEMORY,
                "the float64 reference needs %s of memory and %s are available: choose a smaller "
                "%s, --batch or --ctx",
                human_bytes((double)need).s, human_bytes((double)available).s,
                model_spec_is_file(&r->model.config.model) ? "--num-layers" : "--size");
}

Status reference_step_run(ReferenceStep *r, const Config *config, int threads)
{
    CLEANUP(binding_free) Binding binding = {0};
    CLEANUP(session_close) Session session = {0};
    const double began = clock_seconds();
    Config c = *config;
    c.precision = PRECISION_FP32;
    c.exec = EXEC_FUSED;
    c.head_rows = CONFIG_HEAD_WHOLE; /* logits are compared */
    c.attention = ATTENTION_FLASH;   /* as an op of its own; float64 has its reference only */
    *r = (ReferenceStep){0};
    TRY(model_build(&r->model, &c, MODE_FWD_BWD, DT_F64));
    TRY(binding_make(&binding, &r->model.plan, BACKEND_cpu, threads, NULL));
    TRY(check_memory(r, &binding));
    r->logits = malloc(plan_bytes(shape(r, r->model.logits)));
    r->grads = malloc((size_t)r->model.n_elements * sizeof *r->grads);
    if (!r->logits || !r->grads) return NO_MEMORY("for the float64 reference");
    TRY(session_open(&session, &binding, 0));
    TRY(run_phases(r, &session));
    r->seconds = clock_seconds() - began;
    return ST_OK;
}

void reference_step_free(ReferenceStep *r)
{
    model_free(&r->model);
    free(r->logits);
    free(r->grads);
    *r = (ReferenceStep){0};
}
