#include "config/model_spec.h"

#include "base/human.h"
#include "base/suggest.h"

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

/* FNV-1a, 64 bits. */
static uint64_t hash_number(uint64_t hash, double value)
{
    unsigned char bytes[sizeof value];
    memcpy(bytes, &value, sizeof value);
    for (size_t i = 0; i < sizeof bytes; i++) hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

ModelHash model_spec_hash(const ModelSpec *spec)
{
    const Rope *rope = &spec->rope;
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
        (double)spec->window,
        (double)spec->window_from,
        spec->qkv_bias,
        spec->output_bias,
        spec->feed_forward_bias,
        spec->qk_norm,
        spec->tied,
        spec->parallel_residual,
    };
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) hash = hash_number(hash, fields[i]);
    ModelHash text;
    snprintf(text.s, sizeof text.s, "%012llx", (unsigned long long)(hash >> 16));
    return text;
}
