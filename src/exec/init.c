#include "exec/init.h"

#include "backend/thread_team.h"
#include "base/array.h"
#include "base/i64.h"
#include "base/rng.h"
#include "comm/comm.h"
#include "exec/param_values.h"
#include "model/rope_frequency.h"
#include "ops/element.h"
#include "plan/step_state.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 1 << 22 }; /* elements made on the host at a time: 16 MiB of floats */

/* Streams of random numbers: parameter i has stream i. */
static const uint64_t token_stream = 1ULL << 40, target_stream = (1ULL << 40) + 1;
static const uint64_t attention_stream = (1ULL << 40) + 2; /* of q; k, v and dout follow */

/* A tensor that starts from random numbers, or from ones. */
typedef struct InitialTensor {
    int tensor;
    uint64_t stream;
    ParamInit init;
    double std;
} InitialTensor;

/* Up to CHUNK elements of a tensor on the host. */
typedef struct HostBuffers {
    float *values;
    void *
        converted; /* the same in the tensor's dtype, up to 8 bytes an element; NULL: all tensors are fp32 */
} HostBuffers;

/* Elements from `first` on, made by all threads. */
typedef struct Fill {
    float *values;
    const InitialTensor *initial;
    int64_t first;
    uint64_t seed;
} Fill;

static void fill_range(const void *data, int64_t i, int64_t end, int thread)
{
    const Fill *f = data;
    const InitialTensor *t = f->initial;
    (void)thread;
    if (t->init == INIT_NORMAL) {
        rng_truncated_normal(f->values + i, end - i, f->seed, t->stream, f->first + i, t->std);
    } else {
        for (; i < end; i++) f->values[i] = 1;
    }
}

static void make_values(const Session *s, const Model *model, const InitialTensor *initial,
                        int64_t first, int64_t n, const HostBuffers *host)
{
    thread_team_for(s->binding->threads, n, 0, fill_range,
                    &(Fill){host->values, initial, first, (uint64_t)model->config.seed});
}

static InitialTensor initial_param(const Model *model, int param)
{
    const Param *p = &model->params[param];
    return (InitialTensor){p->tensor, (uint64_t)param, p->init, p->std};
}

void init_param_values(const Model *model, int param, int64_t first, int64_t n, float *values)
{
    const InitialTensor initial = initial_param(model, param);
    fill_range(&(Fill){values, &initial, first, (uint64_t)model->config.seed}, 0, n, 0);
}

static Status upload_param(Session *s, const Model *model, int param, const HostBuffers *host)
{
    const InitialTensor initial = initial_param(model, param);
    const int64_t all = param_values_count(model, param);
    for (int64_t first = 0; first < all; first += CHUNK) {
        const int64_t n = i64_min(all - first, CHUNK);
        make_values(s, model, &initial, first, n, host);
        TRY(param_values_write(s, model, param, first, n, host->values, host->converted));
    }
    return ST_OK;
}

Status init_param(Session *s, const Model *model, int param, int64_t first, int64_t n,
                  const float *values)
{
    CLEANUP(array_free) void *scratch = malloc((size_t)i64_min(n, CHUNK) * sizeof(double));
    if (!scratch) return NO_MEMORY("for initial values");
    for (int64_t i = 0; i < n; i += CHUNK)
        TRY(param_values_write(s, model, param, first + i, i64_min(n - i, CHUNK), values + i,
                               scratch));
    return ST_OK;
}

static Status upload_tensor(Session *s, const Model *model, const InitialTensor *initial,
                            const HostBuffers *host)
{
    const Tensor *t = &model->plan.tensors[initial->tensor];
    const size_t size = plan_dtype_size(t->dtype);
    const int64_t all = plan_elements(t);
    for (int64_t first = 0; first < all; first += CHUNK) {
        const int64_t n = i64_min(all - first, CHUNK);
        char *to = (char *)s->memory[initial->tensor] + (size_t)first * size;
        make_values(s, model, initial, first, n, host);
        TRY(param_values_upload(s, to, t->dtype, false, host->values, n, host->converted));
    }
    return ST_OK;
}

static Status upload_attention(Session *s, const Model *model, const HostBuffers *host)
{
    const AttentionAlone *alone = &model->alone;
    const int tensors[] = {alone->qkv[0], alone->qkv[1], alone->qkv[2], alone->dout};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        const InitialTensor initial = {tensors[i], attention_stream + i, INIT_NORMAL, 1};
        if (initial.tensor != PLAN_NONE) TRY(upload_tensor(s, model, &initial, host));
    }
    return ST_OK;
}

static Status upload_random(Session *s, const Model *model)
{
    const bool convert = model->full_dtype != DT_F32 || model->act != DT_F32;
    CLEANUP(array_free) float *values = malloc(CHUNK * sizeof *values);
    CLEANUP(array_free) void *converted = convert ? malloc(CHUNK * sizeof(double)) : NULL;
    if (!values || (convert && !converted)) return NO_MEMORY("for initial values");
    const HostBuffers host = {values, converted};
    for (int i = 0; i < model->n_params; i++) TRY(upload_param(s, model, i, &host));
    return upload_attention(s, model, &host);
}

/* All ranks together have the tokens that one would have with their batches in one: of every
 * micro-batch, the rows of rank 0, then those of rank 1. */
static int64_t place_of_id(const Session *s, const Model *model, int64_t i)
{
    if (!s->comm) return i;
    const int64_t each = model->config.batch * model->config.ctx; /* of a micro-batch */
    const int64_t ranks = comm_ranks(s->comm), rank = comm_rank(s->comm);
    return (i / each * ranks + rank) * each + i % each;
}

static Status upload_ids(Session *s, const Model *model, int tensor, uint64_t stream, int batch)
{
    if (tensor == PLAN_NONE) return ST_OK;
    const int64_t n = plan_elements(&model->plan.tensors[tensor]);
    const int64_t before = batch * n * (s->comm ? comm_ranks(s->comm) : 1);
    CLEANUP(array_free) int32_t *ids = malloc((size_t)n * sizeof *ids);
    if (!ids) return NO_MEMORY("for %lld tokens", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        ids[i] = (int32_t)rng_below((uint64_t)model->config.seed, stream,
                                    (uint64_t)(before + place_of_id(s, model, i)),
                                    model->config.model.vocab);
    }
    return session_upload(s, tensor, ids);
}

Status init_batch(Session *s, const Model *model, int number)
{
    TRY(upload_ids(s, model, model->tokens, token_stream, number));
    return upload_ids(s, model, model->targets, target_stream, number);
}

/* How fast column `c` of a RoPE table turns; 0 where it does not. A table has a column for every
 * pair of a head, or in the wide form for every element of all heads. */
static double column_frequency(const ModelSpec *spec, bool wide, int64_t c)
{
    const int64_t half = model_spec_rotary_dim(spec) / 2, element = c % model_spec_head_dim(spec);
    if (!wide) return rope_frequency(spec, c);
    if (element >= 2 * half) return 0;
    return rope_frequency(spec, spec->position == POSITION_HALVES ? element % half : element / 2);
}

/* cos or sin of t f, for every token t and the frequency f of each column. */
static Status upload_rope(Session *s, const Model *model, int tensor, bool wide, bool sine)
{
    if (tensor == PLAN_NONE) return ST_OK;
    const Tensor *shape = &model->plan.tensors[tensor];
    const int64_t rows = plan_rows(shape), width = plan_width(shape);
    CLEANUP(array_free) void *table = malloc(plan_bytes(shape));
    CLEANUP(array_free) double *frequency = malloc((size_t)width * sizeof *frequency);
    if (!table || !frequency) return NO_MEMORY("for RoPE tables");
    for (int64_t c = 0; c < width; c++) {
        frequency[c] = column_frequency(&model->config.model, wide, c);
    }
    for (int64_t t = 0; t < rows; t++) {
        for (int64_t c = 0; c < width; c++) {
            const double angle = (double)t * frequency[c];
            element_set(table, shape->dtype, t * width + c, sine ? sin(angle) : cos(angle));
        }
    }
    return session_upload(s, tensor, table);
}

static Status upload_all_rope(Session *s, const Model *model)
{
    TRY(upload_rope(s, model, model->rope_cos, false, false));
    TRY(upload_rope(s, model, model->rope_sin, false, true));
    for (int i = 0; i < ROPE_WIDTHS; i++) {
        TRY(upload_rope(s, model, model->rope_wide[i].cos, true, false));
        TRY(upload_rope(s, model, model->rope_wide[i].sin, true, true));
    }
    return ST_OK;
}

/* Of the first n tokens those that go through the fullest expert, spread evenly among them. */
static int64_t through_fullest(int64_t n, const ModelSpec *spec, double skew)
{
    const double share = skew * (double)spec->experts_per_token / (double)spec->num_experts;
    return (int64_t)floor((double)n * share + 1e-9);
}

/* The experts of token n. Expert 0 is the fullest; the other choices go round the others. Without skew all
 * go round all. */
static void route_token(int32_t *choice, int64_t n, const ModelSpec *spec, double skew)
{
    const int64_t E = spec->num_experts, K = spec->experts_per_token;
    const bool even = skew <= CONFIG_ROUTING_EVEN || E == 1;
    const int64_t before = even ? 0 : through_fullest(n, spec, skew);
    const bool fullest = !even && through_fullest(n + 1, spec, skew) > before;
    int64_t next = n * K - before;
    if (fullest) *choice = 0;
    for (int64_t j = fullest; j < K; j++, next++)
        choice[j] = (int32_t)(even ? next % E : 1 + next % (E - 1));
}

static Status upload_choice(Session *s, const Model *model)
{
    if (model->given_choice == PLAN_NONE) return ST_OK;
    const Tensor *shape = &model->plan.tensors[model->given_choice];
    CLEANUP(array_free) int32_t *choice = malloc(plan_bytes(shape));
    if (!choice) return NO_MEMORY("for the experts of each token");
    for (int64_t n = 0; n < plan_rows(shape); n++)
        route_token(choice + n * plan_width(shape), place_of_id(s, model, n), &model->config.model,
                    model->config.routing);
    return session_upload(s, model->given_choice, choice);
}

static Status upload_state(Session *s, const Model *model)
{
    if (model->fp8.amax != PLAN_NONE) /* nothing has been seen yet */
        TRY(s->api->clear(s->backend, s->region[TK_STATE], s->binding->mem.region[TK_STATE]));
    if (model->state == PLAN_NONE) return ST_OK;
    const Config *c = &model->config;
    const bool scaled = config_scales_loss(c);
    const bool dynamic = scaled && c->loss_scale == CONFIG_SCALE_DYNAMIC;
    double state[STATE_COUNT] = {0};
    state[STATE_MICRO_BATCH] = -1; /* before the first */
    state[STATE_LOSS_SCALE] = dynamic ? STEP_STATE_FIRST_SCALE : scaled ? c->loss_scale : 1;
    state[STATE_DYNAMIC] = dynamic;
    state[STATE_GUARD] = scaled || model->fp8.amax != PLAN_NONE;
    state[STATE_LR] = c->lr;
    state[STATE_CLIP] = c->clip;
    return session_upload(s, model->state, state);
}

const int init_line = __LINE__ + 1;
Status init_session(Session *s, const Model *model)
{
    TRY(upload_random(s, model));
    TRY(init_batch(s, model, 0));
    TRY(upload_all_rope(s, model));
    TRY(upload_choice(s, model));
    TRY(upload_state(s, model));
    const size_t moments = s->binding->mem.region[TK_MOMENT];
    if (moments) TRY(s->api->clear(s->backend, s->region[TK_MOMENT], moments));
    TRY(session_run(s, PHASE_SETUP));
    return s->api->sync(s->backend);
}
