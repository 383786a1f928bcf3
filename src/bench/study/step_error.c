#include "bench/study/step_error.h"

#include "base/array.h"
#include "bench/record/component_dtypes.h"
#include "exec/init.h"
#include "ops/adam_state.h"
#include "ops/element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A dynamic loss scale starts at 2^16: after this many halvings something else is wrong. */
enum { MOST_ATTEMPTS = 64 };

typedef struct Study {
    StepError *error;
    const ReferenceStep *reference;
    const Model *model;
    Session *session;
    void *buffer;           /* holds any one tensor */
    StepErrorTensor logits; /* of the chunks so far */
} Study;

static const Tensor *shape(const Study *s, int id)
{
    return &s->model->plan.tensors[id];
}

/* ---- 16-bit tensors of the backward pass ---- */

static bool is_narrow(DType dtype)
{
    return dtype == DT_F16 || dtype == DT_BF16;
}

static double least_normal(DType dtype)
{
    if (!is_narrow(dtype)) plan_dtype_unknown(dtype, "least_normal()");
    return dtype == DT_F16 ? 0x1p-14 : 0x1p-126;
}

static void count_element(StepErrorRange *range, DType dtype, double x)
{
    range->elements++;
    if (!isfinite(x))
        range->nonfinite++;
    else if (x == 0)
        range->zero++;
    else if (fabs(x) < least_normal(dtype))
        range->subnormal++;
}

/* A sum over chunks of rows, or over the uses of a parameter, counts when it is whole. */
static bool is_written_again(const Plan *plan, int node, int id)
{
    for (int n = node + 1; n < plan->n_nodes; n++) {
        const Node *later = &plan->nodes[n];
        for (int i = 0; i < later->n_out; i++) {
            if (plan_out_id(plan, later, i) == id) return true;
        }
    }
    return false;
}

static Status count_outputs(const Study *s, const ObserverEvent *event)
{
    const Node *node = &event->plan->nodes[event->node];
    for (int i = 0; i < node->n_out; i++) {
        const int id = plan_out_id(event->plan, node, i);
        if (id == PLAN_NONE || !is_narrow(shape(s, id)->dtype)) continue;
        if (is_written_again(event->plan, event->node, id)) continue;
        if (op_makes_again(event->plan, node, id)) continue;
        const Tensor *t = shape(s, id);
        TRY(event->api->sync(event->backend));
        TRY(session_download(s->session, id, s->buffer));
        for (int64_t k = 0; k < plan_elements(t); k++)
            count_element(&s->error->backward, t->dtype, element_get(s->buffer, t->dtype, k));
    }
    return ST_OK;
}

/* ---- 8-bit operands ---- */

/* Of the two copies of a tensor, as it is stored and transposed, one is counted. */
static int copy_counted(const Plan *plan, const Node *node)
{
    return plan_out_id(plan, node, QUANTIZE_OUT_Q) != PLAN_NONE ? QUANTIZE_OUT_Q
                                                                : QUANTIZE_OUT_TRANSPOSED;
}

static void count_plain(StepErrorOperands *counts, Float8 format, float x)
{
    counts->elements += x != 0;
    counts->plain_underflow += x != 0 && (float8_to(format, x) & 0x7f) == 0;
    counts->plain_saturated += fabsf(x) > float8_largest(format);
}

/* An activation in backward is one that the forward pass has had. */
static bool is_again(const Node *node)
{
    return node->phase == PHASE_BACKWARD && node->attr.fn == QUANTIZE_ACTIVATIONS;
}

/* Numbers are as many before and after: those that are 0 in 8 bits and were not before have underflowed. */
static Status count_operands(const Study *s, const ObserverEvent *event)
{
    const Node *node = &event->plan->nodes[event->node];
    const int x = plan_in_id(event->plan, node, QUANTIZE_IN_X);
    const int recent = plan_in_id(event->plan, node, QUANTIZE_IN_RECENT);
    const int q = plan_out_id(event->plan, node, copy_counted(event->plan, node));
    const int64_t n = plan_elements(shape(s, x));
    const Float8 format = quantize_format(shape(s, q)->dtype);
    StepErrorOperands *counts = &s->error->operands[node->attr.fn];
    float limit = INFINITY;
    TRY(event->api->sync(event->backend));
    if (recent != PLAN_NONE) TRY(session_download(s->session, recent, &limit));
    TRY(session_download(s->session, x, s->buffer));
    for (int64_t i = 0; i < n; i++) {
        const float before = (float)element_get(s->buffer, shape(s, x)->dtype, i);
        count_plain(counts, format, before);
        counts->saturated += fabsf(before) > limit;
        counts->underflow -= before == 0;
    }
    TRY(session_download(s->session, q, s->buffer));
    for (int64_t i = 0; i < n; i++)
        counts->underflow += (((const uint8_t *)s->buffer)[i] & 0x7f) == 0;
    return ST_OK;
}

/* ---- errors ---- */

/* Compares the tensor in the buffer, `divisor` taken out, with the reference's. */
static StepErrorTensor compare(const Study *s, int id, double divisor, const double *reference)
{
    const Tensor *t = shape(s, id);
    StepErrorTensor e = {.elements = plan_elements(t)};
    for (int64_t i = 0; i < e.elements; i++) {
        const double x = element_get(s->buffer, t->dtype, i), y = reference[i];
        const double difference = x / divisor - y;
        e.lost += x == 0 && y != 0;
        e.nonfinite += !isfinite(x);
        e.squared_difference += difference * difference;
        e.squared_size += y * y;
    }
    e.error = sqrt(e.squared_difference / e.squared_size);
    return e;
}

static Status take_loss(const Study *s)
{
    const int loss = s->model->loss;
    TRY(session_download(s->session, loss, s->buffer));
    const double x = element_get(s->buffer, shape(s, loss)->dtype, 0), y = s->reference->loss;
    s->error->loss = fabs(x - y) / fabs(y);
    return ST_OK;
}

/* When they have just been made: the loss may be computed in their memory, and so is their gradient. The
 * reference has those of all chunks, one after the other. */
static Status take_logits(Study *s, const ObserverEvent *event, int chunk)
{
    const int id = s->model->logits + chunk;
    const int64_t before = chunk * plan_elements(shape(s, s->model->logits));
    TRY(event->api->sync(event->backend));
    TRY(session_download(s->session, id, s->buffer));
    const StepErrorTensor e = compare(s, id, 1, s->reference->logits + before);
    if (chunk == 0) s->logits = (StepErrorTensor){0};
    s->logits.squared_difference += e.squared_difference;
    s->logits.squared_size += e.squared_size;
    s->error->logits = sqrt(s->logits.squared_difference / s->logits.squared_size);
    return ST_OK;
}

static Status take_gradients(const Study *s)
{
    StepError *e = s->error;
    const double *reference = s->reference->grads;
    double difference = 0, size = 0;
    for (int i = 0; i < s->model->n_params; i++) {
        const int id = s->model->params[i].grad;
        TRY(session_download(s->session, id, s->buffer));
        e->grads[i] = compare(s, id, e->loss_scale, reference);
        e->grads[i].name = s->reference->model.params[i].name;
        reference += e->grads[i].elements;
        difference += e->grads[i].squared_difference;
        size += e->grads[i].squared_size;
    }
    e->gradients = sqrt(difference / size);
    return ST_OK;
}

static bool is_finite(const StepError *e)
{
    for (int i = 0; i < e->n_grads; i++) {
        if (e->grads[i].nonfinite) return false;
    }
    return true;
}

/* ---- the run ---- */

/* Of the head in chunks they are computed in the forward phase. */
static bool is_gradient(const Study *s, const Node *node)
{
    const Component of = component_dtypes_of_node(s->model, node);
    return of == COMPONENT_LOGIT_GRADIENTS || of == COMPONENT_ACTIVATION_GRADIENTS ||
           of == COMPONENT_WEIGHT_GRADIENTS;
}

/* An observer: a node has written its results. */
static Status look(void *self, const ObserverEvent *event)
{
    Study *s = self;
    const Node *node = &event->plan->nodes[event->node];
    const int chunk = plan_out_id(event->plan, node, 0) - s->model->logits;
    if (node->phase == PHASE_FORWARD && chunk >= 0 && chunk < s->model->head.n)
        return take_logits(s, event, chunk);
    if (node->op == OP_quantize) return is_again(node) ? ST_OK : count_operands(s, event);
    return is_gradient(s, node) ? count_outputs(s, event) : ST_OK;
}

static Status attempt(Study *s, double state[STATE_COUNT])
{
    s->error->backward = (StepErrorRange){0};
    memset(s->error->operands, 0, sizeof s->error->operands);
    TRY(session_run(s->session, PHASE_FORWARD));
    TRY(s->session->api->sync(s->session->backend));
    TRY(take_loss(s));
    TRY(session_run(s->session, PHASE_BACKWARD));
    TRY(s->session->api->sync(s->session->backend));
    TRY(session_download(s->session, s->model->state, state));
    s->error->loss_scale = state[STATE_LOSS_SCALE];
    return take_gradients(s);
}

/* Scales that follow earlier steps follow those of other batches. */
static Status make_history(const Study *s)
{
    enum { BATCHES = 4 };
    const bool kept = s->model->fp8.history != PLAN_NONE;
    for (int batch = kept ? BATCHES : 0; batch > 0; batch--) {
        TRY(init_batch(s->session, s->model, batch));
        TRY(session_run(s->session, PHASE_FORWARD));
        TRY(session_run(s->session, PHASE_BACKWARD));
    }
    return kept ? init_batch(s->session, s->model, 0) : ST_OK;
}

static Status run(Study *s)
{
    double state[STATE_COUNT];
    TRY(init_session(s->session, s->model));
    TRY(make_history(s));
    TRY(session_observe(s->session, (Observer){.self = s, .end = look}));
    for (;; s->error->overflowed++) {
        TRY(attempt(s, state));
        const bool again = !is_finite(s->error) && state[STATE_DYNAMIC] != 0;
        if (!again || s->error->overflowed == MOST_ATTEMPTS) return ST_OK;
        adam_state_skip(state); /* lowers the scale */
        TRY(session_upload(s->session, s->model->state, state));
    }
}

static size_t largest_tensor(const Plan *plan)
{
    size_t most = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        const size_t bytes = plan_bytes(&plan->tensors[i]);
        if (bytes > most) most = bytes;
    }
    return most;
}

Status step_error_measure(StepError *e, const Config *config, const Placement *placement,
                          const ReferenceStep *reference)
{
    CLEANUP(model_free) Model model = {0};
    CLEANUP(binding_free) Binding binding = {0};
    CLEANUP(session_close) Session session = {0};
    *e = (StepError){0};
    TRY(placement_plan(placement, config, MODE_FWD_BWD, &model, &binding));
    TRY(session_open(&session, &binding, placement->device));
    CLEANUP(array_free) void *buffer = malloc(largest_tensor(&model.plan));
    e->n_grads = model.n_params;
    e->grads = calloc((size_t)model.n_params, sizeof *e->grads);
    if (!buffer || !e->grads) return NO_MEMORY("to hold one tensor");
    return run(&(Study){e, reference, &model, &session, buffer, {0}});
}

void step_error_free(StepError *e)
{
    free(e->grads);
    *e = (StepError){0};
}
