#include "config/model_fields.h"

#include "base/human.h"
#include "base/text.h"
#include "config/architecture.h"
#include "config/field_value.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A file while it is being read. */
typedef struct File {
    const char *where;
    const json_t *root;
    const ArchitectureInfo *architecture;
    ModelSpec *spec;
} File;

#define COUNT_OF(array)  (sizeof(array) / sizeof *(array))
#define WRONG(file, ...) field_value_wrong((file)->where, __VA_ARGS__)

/* ---- fields that are one value ---- */

static const FieldBounds of_count = {1, INT32_MAX};

static Status read_count(const File *file, const json_t *value, const char *name, int64_t *out)
{
    return field_value_whole(file->where, value, name, of_count, out);
}

/* Wider than any model needs; within them a step computes with finite numbers. */
static const FieldBounds of_real[FIELD_KINDS] = {
    [FIELD_EPSILON] = {1e-30, 1}, [FIELD_SHARE] = {1e-6, 1}, [FIELD_THETA] = {1e-6, 1e15}};

/* A dimension has the bounds of its option. */
static FieldBounds bounds_of(const ArchitectureField *field)
{
    static const struct {
        size_t offset;
        FieldBounds bounds;
    } dimensions[] = {
#define DIMENSION(id, name, option, label, need, show, key, least, most, usual, help) \
    {offsetof(ModelSpec, name), {least, most}},
#include "config/cell_fields.def"
    };
    for (size_t i = 0; field->kind == FIELD_COUNT && i < COUNT_OF(dimensions); i++) {
        if (dimensions[i].offset == field->offset) return dimensions[i].bounds;
    }
    return field->kind == FIELD_COUNT ? of_count : of_real[field->kind];
}

static Status read_field(const File *file, const ArchitectureField *field)
{
    void *member = (char *)file->spec + field->offset;
    const json_t *value = json_object_get(file->root, field->name);
    if (json_is_null(value) && field->kind == FIELD_COUNT) memset(member, 0, sizeof(int64_t));
    if (!value || json_is_null(value)) return ST_OK;
    switch (field->kind) {
    case FIELD_COUNT:
        return field_value_whole(file->where, value, field->name, bounds_of(field), member);
    case FIELD_FLAG:
        return field_value_flag(file->where, value, field->name, member);
    default:
        return field_value_real(file->where, value, field->name, bounds_of(field), member);
    }
}

/* By another of its names a field may be there all the same. */
static Status require_field(const File *file, const ArchitectureField *field)
{
    const void *member = (const char *)file->spec + field->offset;
    if (field->need == FIELD_OPTIONAL || *(const int64_t *)member != 0) return ST_OK;
    return WRONG(file, "%s is missing; %s has one", field->name, file->architecture->class_name);
}

static Status read_fields(const File *file)
{
    const unsigned families = file->architecture->families;
    for (const ArchitectureField *field = architecture_fields; field->name; field++) {
        if (field->families & families) TRY(read_field(file, field));
    }
    for (const ArchitectureField *field = architecture_fields; field->name; field++) {
        if (field->families & families) TRY(require_field(file, field));
    }
    return ST_OK;
}

/* `*out` stays as it is where the file has no such field. */
static Status read_flag_field(const File *file, const char *name, bool *out)
{
    const json_t *value = field_value_get(file->root, name);
    return value ? field_value_flag(file->where, value, name, out) : ST_OK;
}

/* Does the architecture have a field of this name? */
static bool is_read(const File *file, const char *name)
{
    for (const ArchitectureField *field = architecture_fields; field->name; field++) {
        if ((field->families & file->architecture->families) && strcmp(field->name, name) == 0)
            return true;
    }
    return false;
}

static Status refuse_unsupported(const File *file)
{
    for (const NeutralField *field = architecture_neutral; field->name; field++) {
        const json_t *value = field_value_get(file->root, field->name);
        const double number = json_is_boolean(value)  ? json_is_true(value)
                              : json_is_number(value) ? json_number_value(value)
                                                      : (double)NAN;
        if (!value || number == field->value || is_read(file, field->name)) continue;
        return WRONG(file, "%s is not supported; remove it to measure the model without it",
                     field->name);
    }
    return ST_OK;
}

/* ---- which architecture ---- */

static Status not_supported(const File *file, const char *name)
{
    CLEANUP(text_free) Text known = {0};
    for (int i = ARCHITECTURE_OWN + 1; i < ARCHITECTURE_COUNT; i++)
        text_printf(&known, "%s%s", known.n > 0 ? ", " : "", architecture_table[i].class_name);
    TRY(text_status(&known));
    return WRONG(file, "the architecture %s is not supported; these are: %s", human_quote(name).s,
                 text_str(&known));
}

static Status find_architecture(File *file)
{
    const json_t *classes = field_value_get(file->root, "architectures");
    const char *class_name = json_string_value(json_array_get(classes, 0));
    const char *type = json_string_value(field_value_get(file->root, "model_type"));
    if (!class_name && !type)
        return WRONG(file, "no \"architectures\": is this a model's config.json?");
    for (int i = ARCHITECTURE_OWN + 1; i < ARCHITECTURE_COUNT; i++) {
        const ArchitectureInfo *known = &architecture_table[i];
        const bool same = class_name ? strcmp(class_name, known->class_name) == 0
                                     : strcmp(type, known->model_type) == 0;
        if (same) file->architecture = known;
    }
    return file->architecture ? ST_OK : not_supported(file, class_name ? class_name : type);
}

/* ---- activation, RoPE, window, dropout ---- */

static Status read_activation(const File *file)
{
    static const struct {
        const char *word;
        FeedForward kind;
    } known[] = {
        {"silu", FEED_FORWARD_SWIGLU},         {"swish", FEED_FORWARD_SWIGLU},
        {"gelu", FEED_FORWARD_GELU_ERF},       {"gelu_new", FEED_FORWARD_GELU_TANH},
        {"gelu_fast", FEED_FORWARD_GELU_TANH}, {"gelu_pytorch_tanh", FEED_FORWARD_GELU_TANH},
    };
    const char *name =
        file->architecture->families & FAMILY_GPT2 ? "activation_function" : "hidden_act";
    const json_t *value = field_value_get(file->root, name);
    const char *word = json_string_value(value);
    const bool gated = file->spec->feed_forward == FEED_FORWARD_SWIGLU;
    if (!value) return ST_OK;
    for (size_t i = 0; word && i < COUNT_OF(known); i++) {
        if (strcmp(word, known[i].word) != 0) continue;
        if (gated != (known[i].kind == FEED_FORWARD_SWIGLU)) break;
        file->spec->feed_forward = known[i].kind;
        return ST_OK;
    }
    return WRONG(file, "%s %s is not supported; %s has %s here", name,
                 word ? human_quote(word).s : "of this form", file->architecture->class_name,
                 gated ? "silu" : "gelu, gelu_new, gelu_fast or gelu_pytorch_tanh");
}

static Status read_factor(const File *file, const json_t *object, const char *name, double *out)
{
    char of_scaling[64];
    snprintf(of_scaling, sizeof of_scaling, "%s of RoPE scaling", name);
    return field_value_real(file->where, field_value_get(object, name), of_scaling,
                            (FieldBounds){1e-6, 1e6}, out);
}

static Status read_scaling(const File *file, const json_t *object)
{
    Rope *rope = &file->spec->rope;
    const json_t *type = field_value_get(object, "rope_type");
    if (!type) type = field_value_get(object, "type");
    const char *word = json_string_value(type);
    if (!type || (word && strcmp(word, "default") == 0)) return ST_OK;
    const bool llama3 = word && strcmp(word, "llama3") == 0;
    if (!llama3 && !(word && strcmp(word, "linear") == 0))
        return WRONG(file, "RoPE scaling %s is not supported; default, linear and llama3 are",
                     word ? human_quote(word).s : "of this form");
    rope->scaling = llama3 ? ROPE_SCALING_LLAMA3 : ROPE_SCALING_LINEAR;
    TRY(read_factor(file, object, "factor", &rope->factor));
    if (!llama3) return ST_OK;
    TRY(read_factor(file, object, "low_freq_factor", &rope->low_factor));
    TRY(read_factor(file, object, "high_freq_factor", &rope->high_factor));
    if (rope->low_factor >= rope->high_factor)
        return WRONG(file, "low_freq_factor %g is not below high_freq_factor %g", rope->low_factor,
                     rope->high_factor);
    const char *name = "original_max_position_embeddings";
    const json_t *original = field_value_get(file->root, name);
    if (!original) original = field_value_get(object, name);
    rope->original_positions = file->spec->positions;
    return original ? read_count(file, original, name, &rope->original_positions) : ST_OK;
}

/* NeoX alone rotates a part of each head. Llama's classes ignore the field, or fail where frequencies are
 * scaled. */
static Status read_share(const File *file, const json_t *object)
{
    static const char name[] = "partial_rotary_factor";
    Rope *rope = &file->spec->rope;
    const bool neox = file->architecture->families & FAMILY_NEOX;
    const json_t *value = field_value_get(object, name);
    double share = rope->share;
    if (!value && !neox) value = field_value_get(file->root, name);
    if (value) TRY(field_value_real(file->where, value, name, of_real[FIELD_SHARE], &share));
    if (neox) rope->share = share;
    if (rope->share != share && rope->scaling != ROPE_SCALING_NONE)
        return WRONG(file, "%s %g with RoPE scaling is not supported in %s", name, share,
                     file->architecture->class_name);
    return ST_OK;
}

/* `rope_scaling` up to version 4 of transformers, `rope_parameters` from 5 on. Where a file has both, the
 * first counts; what is in either counts more than the fields beside it. */
static Status read_rope(const File *file)
{
    const char *name = "rope_scaling";
    const json_t *object = field_value_get(file->root, name);
    if (!object || (json_is_object(object) && json_object_size(object) == 0))
        object = field_value_get(file->root, name = "rope_parameters");
    const json_t *theta = field_value_get(object, "rope_theta");
    if (object && !json_is_object(object)) return WRONG(file, "%s is not an object", name);
    if (field_value_get(object, "full_attention") || field_value_get(object, "sliding_attention"))
        return WRONG(file, "%s by the kind of layer is not supported", name);
    if (theta)
        TRY(field_value_real(file->where, theta, "rope_theta", of_real[FIELD_THETA],
                             &file->spec->rope.theta));
    TRY(read_scaling(file, object));
    return read_share(file, object);
}

/* `layer_types`: layers with full attention first, then layers with the window. */
static Status read_layer_types(const File *file, const json_t *types)
{
    ModelSpec *spec = file->spec;
    const size_t n = json_array_size(types);
    if (!json_is_array(types) || n != (size_t)spec->num_layers)
        return WRONG(file, "layer_types does not list %lld layers", (long long)spec->num_layers);
    spec->window_from = spec->num_layers;
    for (size_t i = 0; i < n; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        const bool full = type && strcmp(type, "full_attention") == 0;
        if (!full && !(type && strcmp(type, "sliding_attention") == 0))
            return WRONG(file, "layer_types[%zu] is neither full_attention nor sliding_attention",
                         i);
        if (full && (int64_t)i > spec->window_from)
            return WRONG(file,
                         "layer_types: full attention after sliding_attention (layer %zu) is"
                         " not supported",
                         i);
        if (!full && (int64_t)i < spec->window_from) spec->window_from = (int64_t)i;
    }
    return ST_OK;
}

/* Mistral has a window unless it says null, Mixtral where it says one; Qwen only where use_sliding_window is
 * true, and with experts in every layer. */
static Status read_window(const File *file)
{
    ModelSpec *spec = file->spec;
    const json_t *value = json_object_get(file->root, "sliding_window");
    const json_t *types = field_value_get(file->root, "layer_types");
    const json_t *from = field_value_get(file->root, "max_window_layers");
    const bool by_layer = spec->window_from > 0;
    const bool by_flag = by_layer || spec->architecture == ARCHITECTURE_QWEN3_MOE;
    const bool if_given = spec->architecture == ARCHITECTURE_MIXTRAL && value;
    bool used = (spec->window > 0 && !by_flag) || if_given;
    if (by_flag) TRY(read_flag_field(file, "use_sliding_window", &used));
    if (by_layer && from)
        TRY(field_value_whole(file->where, from, "max_window_layers", (FieldBounds){0, INT32_MAX},
                              &spec->window_from));
    if (json_is_null(value)) used = false;
    if (used && value) TRY(read_count(file, value, "sliding_window", &spec->window));
    if (by_layer && types) {
        TRY(read_layer_types(file, types));
        const bool sliding = spec->window_from < spec->num_layers;
        if (sliding && !used)
            return WRONG(file, "layer_types has sliding_attention, and there is no window: set"
                               " use_sliding_window and sliding_window");
        used = sliding;
    }
    if (!used) spec->window = spec->window_from = 0;
    return ST_OK;
}

/* `mlp_only_layers`: layers without experts, whatever decoder_sparse_step says. */
static Status read_dense_layers(const File *file)
{
    static const char name[] = "mlp_only_layers";
    const json_t *list = field_value_get(file->root, name);
    if (!(file->architecture->families & FAMILY_QWEN3_MOE) || !list) return ST_OK;
    if (!json_is_array(list)) return WRONG(file, "%s is not a list of layers", name);
    for (size_t i = 0; i < json_array_size(list); i++) {
        int64_t layer = 0;
        TRY(field_value_whole(file->where, json_array_get(list, i), name,
                              (FieldBounds){0, 64 * MODEL_LAYER_WORDS - 1}, &layer));
        file->spec->dense_layers[layer / 64] |= (uint64_t)1 << layer % 64;
    }
    return ST_OK;
}

/* A count that is null follows from the rest; that of experts does not. */
static Status check_experts(const File *file)
{
    const unsigned with_experts = FAMILY_MIXTRAL | FAMILY_QWEN3_MOE;
    if (!(file->architecture->families & with_experts) || file->spec->num_experts > 0) return ST_OK;
    return WRONG(file, "num_experts is null; %s has a number of them",
                 file->architecture->class_name);
}

/* A field that is none of the class changes nothing: its row decides. */
static Status read_biases(const File *file)
{
    ModelSpec *spec = file->spec;
    for (const BiasField *field = architecture_biases; field->name; field++) {
        if (field->architecture != spec->architecture) continue;
        TRY(read_flag_field(file, field->name, (bool *)((char *)spec + field->offset)));
    }
    return ST_OK;
}

static Status read_dropout(const File *file)
{
    for (const DropoutField *field = architecture_dropouts; field->name; field++) {
        if (!(field->families & file->architecture->families)) continue;
        const json_t *value = field_value_get(file->root, field->name);
        double share = field->share;
        if (value)
            TRY(field_value_real(file->where, value, field->name, (FieldBounds){0, 1}, &share));
        if (share > 0) file->spec->dropout = true;
    }
    return ST_OK;
}

/* ---- what must hold between fields ---- */

static Status check(const File *file)
{
    ModelSpec *spec = file->spec;
    const int64_t kv_heads = spec->num_kv_heads;
    if (spec->d_ff > 0) spec->ff_multiple = 0;
    if (kv_heads && spec->num_heads % kv_heads &&
        !field_value_get(file->root, "num_key_value_heads"))
        return WRONG(file,
                     "num_key_value_heads is missing; %s then has %lld, which do not divide"
                     " %lld heads",
                     file->architecture->class_name, (long long)kv_heads,
                     (long long)spec->num_heads);
    Status status = model_spec_complete(spec);
    if (status == ST_OK) status = model_spec_check(spec);
    if (status != ST_OK) status_context("%s", human_path(file->where).s);
    return status;
}

static Status read_spec(File *file)
{
    TRY(find_architecture(file));
    *file->spec = file->architecture->silent;
    snprintf(file->spec->size, sizeof file->spec->size, "custom");
    TRY(refuse_unsupported(file));
    TRY(read_fields(file));
    TRY(read_activation(file));
    if (file->spec->position == POSITION_HALVES) TRY(read_rope(file));
    TRY(read_window(file));
    TRY(read_dense_layers(file));
    TRY(check_experts(file));
    TRY(read_biases(file));
    TRY(read_dropout(file));
    return check(file);
}

Status model_fields_read(ModelSpec *spec, const json_t *root, const char *where)
{
    ModelSpec read = {0};
    File file = {.where = where, .root = root, .spec = &read};
    if (!json_is_object(root)) return field_value_wrong(where, "it is JSON, but not an object");
    TRY(read_spec(&file));
    *spec = read;
    return ST_OK;
}
