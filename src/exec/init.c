#include "exec/init.h"

#include "backend/thread_team.h"
#include "base/rng.h"
#include "ops/element.h"
#include "plan/step_state.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 1 << 22 }; /* elements made on the host at a time: 16 MiB of floats */

/* Streams of random numbers: parameter i has stream i. */
static const uint64_t token_stream = 1ULL << 40, target_stream = (1ULL << 40) + 1;
static const uint64_t attention_stream = (1ULL << 40) + 2; /* of q; k, v and dout follow */
static const double rope_theta = 10000;

/* A tensor that starts from random numbers, or from ones. */
typedef struct Drawn {
    int tensor;
    uint64_t stream;
    ParamInit init;
    double std;
} Drawn;

/* Room for a piece of a tensor: as it is drawn, and as the tensor's dtype has it. */
typedef struct Room {
    int threads;
    float *drawn;
    void *converted; /* up to 8 bytes an element */
} Room;

/* Elements from `first` on, drawn by all threads. */
typedef struct Draw {
    const Room *room;
    const Drawn *drawn;
    int64_t first;
    uint64_t seed;
} Draw;

static void draw_range(const void *data, int64_t i, int64_t end, int thread)
{
    const Draw *x = data;
    const Drawn *d = x->drawn;
    float *const dst = x->room->drawn;
    (void)thread;
    if (d->init == INIT_NORMAL) {
        rng_truncated_normal(dst + i, end - i, x->seed, d->stream, x->first + i, d->std);
    } else {
        for (; i < end; i++) dst[i] = 1;
    }
}

typedef struct Conversion {
    const Room *room;
    DType dtype;
} Conversion;

static void convert_range(const void *data, int64_t i, int64_t end, int thread)
{
    const Conversion *x = data;
    (void)thread;
    for (; i < end; i++) element_set(x->room->converted, x->dtype, i, (double)x->room->drawn[i]);
}

static const void *as_dtype(const Room *room, DType dtype, int64_t n)
{
    if (dtype == DT_F32) return room->drawn;
    thread_team_for(room->threads, n, 0, convert_range, &(Conversion){room, dtype});
    return room->converted;
}

static void upper_range(const void *data, int64_t i, int64_t end, int thread)
{
    const Room *room = data;
    uint16_t *upper = room->converted;
    (void)thread;
    for (; i < end; i++) upper[i] = float16_upper(room->drawn[i]);
}

static const void *uppers(const Room *room, int64_t n)
{
    thread_team_for(room->threads, n, 0, upper_range, room);
    return room->converted;
}

/* A parameter in bf16 alone is what the upper half of one in two halves is: every mode starts
 * from the same. */
static const void *as_drawn(const Room *room, const Tensor *t, int64_t n)
{
    const bool upper = t->kind == TK_PARAM && t->dtype == DT_BF16;
    return upper ? uppers(room, n) : as_dtype(room, t->dtype, n);
}

/* n elements of `tensor` from `first` on. */
static Status upload_piece(Session *s, int tensor, int64_t first, int64_t n, const void *from)
{
    const size_t size = plan_dtype_size(s->plan->tensors[tensor].dtype);
    char *to = (char *)s->memory[tensor] + (size_t)first * size;
    return s->api->upload(s->backend, to, from, (size_t)n * size);
}

static Status upload_drawn(Session *s, const Model *model, const Drawn *d, const Room *room)
{
    const Tensor *t = &model->plan.tensors[d->tensor];
    const int64_t all = plan_elements(t);
    for (int64_t first = 0; first < all; first += CHUNK) {
        const int64_t n = all - first < CHUNK ? all - first : CHUNK;
        thread_team_for(room->threads, n, 0, draw_range,
                        &(Draw){room, d, first, (uint64_t)model->config.seed});
        TRY(upload_piece(s, d->tensor, first, n, as_drawn(room, t, n)));
        if (t->dtype == DT_LOW16) TRY(upload_piece(s, t->upper, first, n, uppers(room, n)));
    }
    return ST_OK;
}

static Status upload_params(Session *s, const Model *model, const Room *room)
{
    for (int i = 0; i < model->n_params; i++) {
        const Param *p = &model->params[i];
        const Drawn drawn = {p->tensor, (uint64_t)i, p->init, p->std};
        TRY(upload_drawn(s, model, &drawn, room));
    }
    return ST_OK;
}

static Status upload_attention(Session *s, const Model *model, const Room *room)
{
    const AttentionAlone *alone = &model->alone;
    const int tensors[] = {alone->qkv[0], alone->qkv[1], alone->qkv[2], alone->dout};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        const Drawn drawn = {tensors[i], attention_stream + i, INIT_NORMAL, 1};
        if (drawn.tensor != PLAN_NONE) TRY(upload_drawn(s, model, &drawn, room));
    }
    return ST_OK;
}

static Status upload_random(Session *s, const Model *model)
{
    const bool convert = model->full_dtype != DT_F32 || model->act != DT_F32;
    const Room room = {.threads = s->binding->threads,
                       .drawn = malloc(CHUNK * sizeof(float)),
                       .converted = convert ? malloc(CHUNK * sizeof(double)) : NULL};
    Status st = ST_OK;
    if (!room.drawn || (convert && !room.converted)) {
        st = NO_MEMORY("for initial values");
    }
    if (st == ST_OK) st = upload_params(s, model, &room);
    if (st == ST_OK) st = upload_attention(s, model, &room);
    free(room.drawn);
    free(room.converted);
    return st;
}

static Status upload_ids(Session *s, const Model *model, int tensor, uint64_t stream)
{
    if (tensor == PLAN_NONE) return ST_OK;
    const int64_t n = plan_elements(&model->plan.tensors[tensor]);
    int32_t *ids = malloc((size_t)n * sizeof *ids);
    if (!ids) return NO_MEMORY("for %lld tokens", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        ids[i] = (int32_t)rng_below((uint64_t)model->config.seed, stream, (uint64_t)i,
                                    model->config.model.vocab);
    }
    const Status st = session_upload(s, tensor, ids);
    free(ids);
    return st;
}

/* cos or sin of t theta^(-2i/D), for column i of D/2 or, in the wide form, for every column of
 * C. */
static Status upload_rope(Session *s, const Model *model, int tensor, bool sine)
{
    if (tensor == PLAN_NONE) return ST_OK;
    const Tensor *shape = &model->plan.tensors[tensor];
    const int64_t D = model->config.model.d_model / model->config.model.num_heads;
    const int64_t rows = plan_rows(shape), width = plan_width(shape);
    void *table = malloc(plan_bytes(shape));
    if (!table) return NO_MEMORY("for RoPE tables");
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

const int init_line = __LINE__ + 1;
Status init_session(Session *s, const Model *model)
{
    TRY(upload_random(s, model));
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
