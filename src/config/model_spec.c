#include "config/model_spec.h"

#include "base/human.h"
#include "base/suggest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const ModelSpec presets[] = {
#define PRESET(name, ...) {.size = name, __VA_ARGS__},
#include "config/presets.def"
};
enum { N_PRESETS = sizeof presets / sizeof *presets };

const char *const model_spec_presets[] = {
#define PRESET(name, ...) name,
#include "config/presets.def"
    NULL,
};

const ModelSpec model_spec_defaults = {
#define DIMENSION(id, name, option, label, need, show, key, least, most, usual, help) .name = usual,
#include "config/cell_fields.def"
    .norm_eps = 1e-5,
    .rope = {.theta = 1e4, .share = 1},
};

Status model_spec_preset(ModelSpec *spec, const char *name)
{
    for (int i = 0; i < N_PRESETS; i++) {
        if (strcasecmp(name, presets[i].size) != 0) continue;
        memcpy(spec->size, presets[i].size, sizeof spec->size);
#define DIMENSION(id, name, ...) \
    if (presets[i].name) spec->name = presets[i].name;
#include "config/cell_fields.def"
        return ST_OK;
    }
    const char *near = suggest_word(name, model_spec_presets, N_PRESETS);
    return FAIL(ST_USAGE, "no model size %s%s%s", human_quote(name).s,
                near ? ": did you mean " : "; see --help for those there are", near ? near : "");
}

bool model_spec_is_file(const ModelSpec *spec)
{
    return spec->architecture != ARCHITECTURE_OWN;
}

Status model_spec_complete(ModelSpec *m)
{
    if (m->ff_multiple == 0) return ST_OK;
    if (m->d_model > INT32_MAX / m->ff_multiple)
        return FAIL(ST_USAGE,
                    "a width of %" PRId64 " is too large: the feed-forward has %" PRId64
                    " times it, and at most %d",
                    m->d_model, m->ff_multiple, INT32_MAX);
    m->d_ff = m->ff_multiple * m->d_model;
    return ST_OK;
}

/* The project's own model rotates whole heads. */
static Status check_own_heads(const ModelSpec *m)
{
    if (m->d_model % m->num_heads != 0)
        return FAIL(ST_USAGE,
                    "num_heads %" PRId64 " does not divide d_model %" PRId64
                    ": change --num-heads or --d-model",
                    m->num_heads, m->d_model);
    if (m->d_model / m->num_heads % 2 != 0)
        return FAIL(ST_USAGE,
                    "d_model %" PRId64 " / num_heads %" PRId64 " = %" PRId64
                    " is an odd head width; rotary embedding needs an even one",
                    m->d_model, m->num_heads, m->d_model / m->num_heads);
    return ST_OK;
}

static Status check_experts(const ModelSpec *m)
{
    enum { MOST_EXPERTS = 1024 }; /* that ops/experts/ takes */
    if (m->num_experts > MOST_EXPERTS)
        return FAIL(ST_USAGE, "%" PRId64 " experts are too many; at most %d", m->num_experts,
                    MOST_EXPERTS);
    if (m->experts_per_token < 1 || m->experts_per_token > m->num_experts)
        return FAIL(ST_USAGE, "a token cannot go through %" PRId64 " of %" PRId64 " experts",
                    m->experts_per_token, m->num_experts);
    const int64_t F = model_spec_expert_ff(m), widest = F > m->d_model ? F : m->d_model;
    if (m->num_experts > INT32_MAX / widest)
        return FAIL(ST_USAGE,
                    "%" PRId64 " experts of %" PRId64 " are too wide; at most %d together",
                    m->num_experts, widest, INT32_MAX);
    return ST_OK;
}

Status model_spec_check(const ModelSpec *m)
{
    const int64_t kv_heads = model_spec_kv_heads(m);
    if (!model_spec_is_file(m)) return check_own_heads(m);
    if (m->head_dim == 0 && m->d_model % m->num_heads != 0)
        return FAIL(ST_USAGE, "%" PRId64 " heads do not divide a width of %" PRId64, m->num_heads,
                    m->d_model);
    if (m->num_heads % kv_heads != 0)
        return FAIL(ST_USAGE, "%" PRId64 " key-value heads do not divide %" PRId64 " heads",
                    kv_heads, m->num_heads);
    if (m->num_experts > 0) TRY(check_experts(m));
    const int64_t head_dim = model_spec_head_dim(m), rotary = model_spec_rotary_dim(m);
    if (m->num_heads > INT32_MAX / head_dim)
        return FAIL(ST_USAGE, "%" PRId64 " heads of %" PRId64 " elements are too wide; at most %d",
                    m->num_heads, head_dim, INT32_MAX);
    if (m->position == POSITION_HALVES && (rotary == 0 || rotary % 2 != 0))
        return FAIL(ST_USAGE,
                    "RoPE rotates %" PRId64 " elements of a head; it needs an even number", rotary);
    return ST_OK;
}

bool model_spec_has_window(const ModelSpec *spec)
{
    return spec->window > 0 && spec->window_from < spec->num_layers;
}

int64_t model_spec_kv_heads(const ModelSpec *spec)
{
    return spec->num_kv_heads ? spec->num_kv_heads : spec->num_heads;
}

int64_t model_spec_head_dim(const ModelSpec *spec)
{
    return spec->head_dim ? spec->head_dim : spec->d_model / spec->num_heads;
}

int64_t model_spec_rotary_dim(const ModelSpec *spec)
{
    return (int64_t)((double)model_spec_head_dim(spec) * spec->rope.share);
}

int64_t model_spec_expert_ff(const ModelSpec *spec)
{
    return spec->expert_ff ? spec->expert_ff : spec->d_ff;
}

bool model_spec_has_experts(const ModelSpec *spec, int64_t layer)
{
    const bool dense =
        layer / 64 < MODEL_LAYER_WORDS && (spec->dense_layers[layer / 64] >> layer % 64 & 1);
    const int64_t step = spec->sparse_step ? spec->sparse_step : 1;
    return spec->num_experts > 0 && !dense && (layer + 1) % step == 0;
}

/* FNV-1a, 64 bits. */
static uint64_t hash_number(uint64_t hash, double value)
{
    unsigned char bytes[sizeof value];
    memcpy(bytes, &value, sizeof value);
    for (size_t i = 0; i < sizeof bytes; i++) hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

/* A model without experts has the hash that it had before there were any. */
static uint64_t hash_experts(uint64_t hash, const ModelSpec *spec)
{
    if (spec->num_experts == 0) return hash;
    hash = hash_number(hash, (double)spec->num_experts);
    hash = hash_number(hash, (double)spec->experts_per_token);
    hash = hash_number(hash, (double)model_spec_expert_ff(spec));
    hash = hash_number(hash, spec->norm_topk);
    for (int64_t l = 0; l < spec->num_layers; l++)
        hash = hash_number(hash, model_spec_has_experts(spec, l));
    return hash;
}

ModelHash model_spec_hash(const ModelSpec *spec)
{
    const Rope *rope = &spec->rope;
    const bool windowed = model_spec_has_window(spec);
    const double fields[] = {
#define DIMENSION(id, name, ...) (double)spec->name,
#include "config/cell_fields.def"
        (double)model_spec_kv_heads(spec),
        (double)model_spec_head_dim(spec),
        spec->architecture,
        spec->norm,
        spec->norm_eps,
        spec->position,
        spec->position == POSITION_LEARNED ? (double)spec->positions : 0,
        rope->theta,
        (double)model_spec_rotary_dim(spec),
        rope->scaling,
        rope->factor,
        rope->low_factor,
        rope->high_factor,
        (double)rope->original_positions,
        spec->feed_forward,
        windowed ? (double)spec->window : 0,
        windowed ? (double)spec->window_from : 0,
        spec->qkv_bias,
        spec->output_bias,
        spec->feed_forward_bias,
        spec->qk_norm,
        spec->tied,
        spec->parallel_residual,
    };
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) hash = hash_number(hash, fields[i]);
    hash = hash_experts(hash, spec);
    ModelHash text;
    snprintf(text.s, sizeof text.s, "%012llx", (unsigned long long)(hash >> 16));
    return text;
}
