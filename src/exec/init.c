#include "exec/init.h"

#include "base/rng.h"
#include "ops/element.h"
#include "plan/step_state.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 1 << 22 }; /* elements made on the host at a time: 16 MiB of floats */

/* Streams of random numbers: parameter i has stream i. */
static const uint64_t token_stream = 1ULL << 40, target_stream = (1ULL << 40) + 1;
static const double rope_theta = 10000;

/* Elements [first, first + n) of a parameter, as floats. */
static void draw(float *dst, const Param *p, uint64_t stream, int64_t first, int64_t n,
                 uint64_t seed)
{
    enum { PIECE = 1 << 14 };
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i += PIECE) {
        const int64_t m = n - i < PIECE ? n - i : PIECE;
        if (p->init == INIT_NORMAL) {
            rng_truncated_normal(dst + i, m, seed, stream, first + i, p->std);
        } else {
            for (int64_t j = 0; j < m; j++) dst[i + j] = 1;
        }
    }
}

static Status upload_param(Session *s, const Model *model, int index, float *host, double *wide)
{
    const Param *p = &model->params[index];
    const Tensor *t = &model->plan.tensors[p->tensor];
    const int64_t all = plan_elements(t);
    for (int64_t first = 0; first < all; first += CHUNK) {
        const int64_t n = all - first < CHUNK ? all - first : CHUNK;
        draw(host, p, (uint64_t)index, first, n, (uint64_t)model->config.seed);
        const void *from = host;
        if (t->dtype == DT_F64) {
            for (int64_t i = 0; i < n; i++) wide[i] = (double)host[i];
            from = wide;
        }
        char *to = (char *)s->memory[p->tensor] + (size_t)first * plan_dtype_size(t->dtype);
        TRY(s->api->upload(s->backend, to, from, (size_t)n * plan_dtype_size(t->dtype)));
    }
    return ST_OK;
}

static Status upload_params(Session *s, const Model *model)
{
    int64_t largest = 1;
    for (int i = 0; i < model->n_params; i++) {
        const int64_t n = plan_elements(&model->plan.tensors[model->params[i].tensor]);
        if (n > largest) largest = n;
    }
    if (largest > CHUNK) largest = CHUNK;
    float *host = malloc((size_t)largest * sizeof *host);
    double *wide = model->wide == DT_F64 ? malloc((size_t)largest * sizeof *wide) : NULL;
    Status st = ST_OK;
    if (!host || (model->wide == DT_F64 && !wide))
        st = FAIL(ST_NO_MEMORY, "no memory to start from");
    for (int i = 0; st == ST_OK && i < model->n_params; i++) {
        st = upload_param(s, model, i, host, wide);
    }
    free(host);
    free(wide);
    return st;
}

static Status upload_ids(Session *s, const Model *model, int tensor, uint64_t stream)
{
    const int64_t n = plan_elements(&model->plan.tensors[tensor]);
    int32_t *ids = malloc((size_t)n * sizeof *ids);
    if (!ids) return FAIL(ST_NO_MEMORY, "no memory for %lld tokens", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        ids[i] = (int32_t)rng_below((uint64_t)model->config.seed, stream, (uint64_t)i,
                                    model->config.vocab);
    }
    const Status st = session_upload(s, tensor, ids);
    free(ids);
    return st;
}

/* cos or sin of t theta^(-2i/D), for column i of D/2 or, in the wide form, for every column of C. */
static Status upload_rope(Session *s, const Model *model, int tensor, bool sine)
{
    if (tensor == PLAN_NONE) return ST_OK;
    const Tensor *shape = &model->plan.tensors[tensor];
    const int64_t D = model->config.d_model / model->config.num_heads;
    const int64_t rows = plan_rows(shape), width = plan_width(shape);
    void *table = malloc(plan_bytes(shape));
    if (!table) return FAIL(ST_NO_MEMORY, "no memory for RoPE tables");
    for (int64_t t = 0; t < rows; t++) {
        for (int64_t c = 0; c < width; c++) {
            const int64_t pair = width == D / 2 ? c : c % D / 2;
            const double angle = (double)t * pow(rope_theta, -2.0 * (double)pair / (double)D);
            element_set(table, shape->dtype, t * width + c, sine ? sin(angle) : cos(angle));
        }
    }
    const Status st = session_upload(s, tensor, table);
    free(table);
    return st;
}

static Status upload_state(Session *s, const Model *model)
{
    if (model->state == PLAN_NONE) return ST_OK;
    const Config *c = &model->config;
    const bool scaled = config_scales_loss(c);
    const bool dynamic = scaled && c->loss_scale == CONFIG_SCALE_DYNAMIC;
    double state[STATE_COUNT] = {0};
    state[STATE_LOSS_SCALE] = dynamic ? STEP_STATE_FIRST_SCALE : scaled ? c->loss_scale : 1;
    state[STATE_DYNAMIC] = dynamic;
    state[STATE_GUARD] = scaled;
    state[STATE_LR] = c->lr;
    state[STATE_CLIP] = c->clip;
    return session_upload(s, model->state, state);
}

Status init_session(Session *s, const Model *model)
{
    TRY(upload_params(s, model));
    TRY(upload_ids(s, model, model->tokens, token_stream));
    TRY(upload_ids(s, model, model->targets, target_stream));
    TRY(upload_rope(s, model, model->rope_cos, false));
    TRY(upload_rope(s, model, model->rope_sin, true));
    TRY(upload_rope(s, model, model->rope_cos_full, false));
    TRY(upload_rope(s, model, model->rope_sin_full, true));
    TRY(upload_state(s, model));
    const size_t moments = s->binding->mem.region[TK_MOMENT];
    if (moments) TRY(s->api->clear(s->backend, s->region[TK_MOMENT], moments));
    TRY(session_run(s, PHASE_SETUP));
    return s->api->sync(s->backend);
}
