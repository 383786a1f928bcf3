#include "config/model_json.h"

#include "base/json_text.h"
#include "config/architecture.h"

#include <stdlib.h>

static json_t *field_value(const ModelSpec *spec, const ArchitectureField *field)
{
    const char *member = (const char *)spec + field->offset;
    switch (field->kind) {
    case FIELD_COUNT:
        return *(const int64_t *)member ? json_integer(*(const int64_t *)member) : json_null();
    case FIELD_FLAG:
        return json_boolean(*(const bool *)member);
    default:
        return json_real(*(const double *)member);
    }
}

static const char *activation(FeedForward kind)
{
    static const char *const words[] = {[FEED_FORWARD_SWIGLU] = "silu",
                                        [FEED_FORWARD_GELU_TANH] = "gelu_new",
                                        [FEED_FORWARD_GELU_ERF] = "gelu"};
    return words[kind];
}

/* As version 5 of transformers writes it; version 4 reads rope_scaling, without theta. */
static json_t *rope(const Rope *r, bool with_theta)
{
    static const char *const types[] = {[ROPE_SCALING_NONE] = "default",
                                        [ROPE_SCALING_LINEAR] = "linear",
                                        [ROPE_SCALING_LLAMA3] = "llama3"};
    json_t *object = json_pack("{s:s}", "rope_type", types[r->scaling]);
    if (with_theta)
        json_object_update_new(object, json_pack("{s:f, s:f}", "rope_theta", r->theta,
                                                 "partial_rotary_factor", r->share));
    if (r->scaling != ROPE_SCALING_NONE)
        json_object_set_new(object, "factor", json_real(r->factor));
    if (r->scaling == ROPE_SCALING_LLAMA3)
        json_object_update_new(object, json_pack("{s:f, s:f, s:I}", "low_freq_factor",
                                                 r->low_factor, "high_freq_factor", r->high_factor,
                                                 "original_max_position_embeddings",
                                                 (json_int_t)r->original_positions));
    return object;
}

/* Where Llama's family has a field for it. */
static json_t *window(const ModelSpec *s)
{
    if (s->window == 0) return json_pack("{s:n, s:b}", "sliding_window", "use_sliding_window", 0);
    return json_pack("{s:I, s:b, s:I}", "sliding_window", (json_int_t)s->window,
                     "use_sliding_window", 1, "max_window_layers", (json_int_t)s->window_from);
}

static json_t *dense_layers(const ModelSpec *s)
{
    json_t *list = json_array();
    for (int64_t l = 0; l < 64 * MODEL_LAYER_WORDS; l++) {
        if (s->dense_layers[l / 64] >> l % 64 & 1) json_array_append_new(list, json_integer(l));
    }
    return list;
}

static void add_family(json_t *root, const ModelSpec *s, unsigned families)
{
    const char *act = activation(s->feed_forward);
    if (families & FAMILY_GPT2) {
        json_object_update_new(root, json_pack("{s:s, s:i, s:i, s:i}", "activation_function", act,
                                               "resid_pdrop", 0, "embd_pdrop", 0, "attn_pdrop", 0));
        return;
    }
    json_object_update_new(root, json_pack("{s:s, s:i, s:i, s:o}", "hidden_act", act,
                                           "attention_dropout", 0, "hidden_dropout", 0,
                                           "rope_parameters", rope(&s->rope, true)));
    if (s->rope.scaling != ROPE_SCALING_NONE)
        json_object_set_new(root, "rope_scaling", rope(&s->rope, false));
    if (families & FAMILY_LLAMA) json_object_update_new(root, window(s));
    if (families & FAMILY_QWEN3_MOE) json_object_set_new(root, "mlp_only_layers", dense_layers(s));
}

static void add_biases(json_t *root, const ModelSpec *s)
{
    for (const BiasField *field = architecture_biases; field->name; field++) {
        const bool *member = (const bool *)((const char *)s + field->offset);
        if (field->architecture == s->architecture)
            json_object_set_new(root, field->name, json_boolean(*member));
    }
}

Status model_json_write(const ModelSpec *spec, Text *text)
{
    ModelSpec full =
        *spec; /* not every class of transformers takes null for a width to be derived */
    full.head_dim = model_spec_head_dim(spec);
    const ArchitectureInfo *architecture = &architecture_table[spec->architecture];
    CLEANUP(json_text_free)
    json_t *root = json_pack("{s:[s], s:s}", "architectures", architecture->class_name,
                             "model_type", architecture->model_type);
    for (const ArchitectureField *field = architecture_fields; field->name; field++) {
        if (field->families & architecture->families)
            json_object_set_new(root, field->name, field_value(&full, field));
    }
    add_family(root, spec, architecture->families);
    add_biases(root, spec);
    char *dump = root ? json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (!dump) return NO_MEMORY("for a model's configuration");
    text_printf(text, "%s", dump);
    free(dump);
    return text_status(text);
}
