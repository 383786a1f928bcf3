#include "exec/weights.h"

#include "base/array.h"
#include "base/human.h"
#include "base/log.h"
#include "base/text.h"
#include "config/architecture.h"
#include "config/model_file.h"
#include "config/option.h"
#include "exec/init.h"

#include <dirent.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of a config.json, or the folder that was given. */
static Status find_folder(Text *folder, const char *model)
{
    struct stat info;
    const char *slash = strrchr(model, '/');
    if (stat(model, &info) == 0 && S_ISDIR(info.st_mode))
        text_puts(folder, model);
    else if (slash)
        text_append(folder, model, (size_t)(slash - model) + 1);
    else
        text_puts(folder, ".");
    return text_status(folder);
}

/* Names of weights that are not read. */
static const char *const other_forms[] = {
    "pytorch_model*.bin",
    "pytorch_model*.index.json",
    "model-*-of-*.safetensors",
    "model.*.safetensors", /* model.fp16.safetensors */
    "adapter_model*",
    "consolidated*",
    "tf_model*.h5",
    "flax_model*.msgpack",
    "*.gguf",
    "*.ckpt",
    "*.pt",
    "*.pth",
};

static bool is_other_form(const char *name)
{
    for (size_t i = 0; i < sizeof other_forms / sizeof *other_forms; i++) {
        if (fnmatch(other_forms[i], name, 0) == 0) return true;
    }
    return false;
}

/* Whoever has weights expects them, not random ones in their place. */
static Status refuse_other_forms(const char *folder)
{
    char first[NAME_MAX + 1] = "";
    DIR *dir = opendir(folder);
    for (const struct dirent *file; dir && (file = readdir(dir));) {
        if (is_other_form(file->d_name) && (!*first || strcmp(file->d_name, first) < 0))
            snprintf(first, sizeof first, "%s", file->d_name);
    }
    if (dir) closedir(dir);
    if (!*first) return ST_OK;
    return FAIL(ST_USAGE,
                "%s: weights are read from model.safetensors or the files that"
                " model.safetensors.index.json lists, not from %s: convert them with transformers'"
                " save_pretrained(), or copy config.json elsewhere for random ones",
                human_path(folder).s, human_quote(first).s);
}

/* A bundled model has no weights; a folder of its name may have some. */
static Status note_folder(const char *model)
{
    CLEANUP(text_free) Text path = {0};
    text_printf(&path, "%s/config.json", model);
    TRY(text_status(&path));
    if (access(text_str(&path), F_OK) == 0)
        log_warning(
            "--model %s is the bundled model, with random weights; the folder is --model ./%s",
            model, model);
    return ST_OK;
}

Status weights_open(SafetensorsReader **out, const char *model)
{
    CLEANUP(text_free) Text folder = {0};
    *out = NULL;
    if (!model) return ST_OK;
    if (model_file_is_bundled(model)) return note_folder(model);
    TRY(find_folder(&folder, model));
    TRY(safetensors_reader_open(out, text_str(&folder)));
    return *out ? ST_OK : refuse_other_forms(text_str(&folder));
}

void weights_close(SafetensorsReader **weights)
{
    safetensors_reader_close(*weights);
}

/* ---- checking ---- */

/* Files of the model without its head have shorter names. */
static bool find_tensor(const SafetensorsReader *weights, const FileTensor *t, size_t *i)
{
    return safetensors_reader_find(weights, t->name, i) ||
           safetensors_reader_find(weights, t->bare, i);
}

/* Has an option replaced the dimension? */
static bool is_changed(const ModelSpec *spec, OptionId id)
{
    return (spec->changed >> id & 1) != 0;
}

/* What to do where a shape is another one. */
static Status put_advice(Text *advice, const ModelSpec *spec)
{
    static const OptionId dimensions[] = {
#define DIMENSION(id, ...) OPTION_##id,
#include "config/cell_fields.def"
    };
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++) {
        const OptionId id = dimensions[i];
        if (!is_changed(spec, id) || id == OPTION_NUM_LAYERS) continue;
        text_printf(advice, "%s --%s", advice->n ? "," : "leave out", option_table[id].name);
    }
    if (advice->n == 0) text_puts(advice, "config.json is not that of these weights");
    return text_status(advice);
}

static Status check_wanted(const SafetensorsReader *weights, const ModelSpec *spec,
                           const FileTensor *t, size_t *i)
{
    CLEANUP(text_free) Text advice = {0};
    if (!find_tensor(weights, t, i))
        return FAIL(ST_USAGE, "%s: the tensor %s is missing: %s",
                    human_path(safetensors_reader_source(weights)).s, human_quote(t->name).s,
                    is_changed(spec, OPTION_NUM_LAYERS)
                        ? "--num-layers asks for more layers than the files have"
                        : "config.json asks for it; is it that of these weights?");
    const SafetensorsEntry *entry = safetensors_reader_entry(weights, *i);
    if (entry->n_dims == t->n_dims &&
        memcmp(entry->dim, t->dim, (size_t)t->n_dims * sizeof *t->dim) == 0)
        return ST_OK;
    TRY(put_advice(&advice, spec));
    return FAIL(ST_USAGE, "%s: the tensor %s is %s, and the model has %s: %s",
                human_path(safetensors_reader_path(weights, *i)).s, human_quote(entry->name).s,
                safetensors_header_shape(entry->n_dims, entry->dim).s,
                safetensors_header_shape(t->n_dims, t->dim).s, text_str(&advice));
}

/* Some files keep the head that is tied; transformers does not tie one that differs. */
static Status check_tied_head(const SafetensorsReader *weights, size_t embedding, size_t head)
{
    bool equal = false;
    TRY(safetensors_reader_equal(weights, embedding, head, &equal));
    if (equal) return ST_OK;
    return FAIL(ST_USAGE,
                "%s: the tensor %s differs from %s, and config.json ties them: set"
                " tie_word_embeddings to false there, or remove the tensor",
                human_path(safetensors_reader_path(weights, head)).s,
                human_quote(safetensors_reader_entry(weights, head)->name).s,
                human_quote(safetensors_reader_entry(weights, embedding)->name).s);
}

/* A tensor that no parameter is made of. */
static Status check_other(const SafetensorsReader *weights, const ModelSpec *spec, size_t embedding,
                          size_t i)
{
    const char *name = safetensors_reader_entry(weights, i)->name;
    const HumanQuote path = human_path(safetensors_reader_path(weights, i));
    const FileName is = file_tensor_identify(spec->architecture, name);
    const char *class_name = architecture_table[spec->architecture].class_name;
    if (is.kind == FILE_NAME_BUFFER) return ST_OK;
    if (is.kind == FILE_NAME_HEAD && spec->tied) return check_tied_head(weights, embedding, i);
    if (is.kind == FILE_NAME_UNKNOWN)
        return FAIL(ST_USAGE,
                    "%s: %s has no tensor %s: is config.json that of these weights? Otherwise"
                    " remove the tensor",
                    path.s, class_name, human_quote(name).s);
    if (is.expert >= spec->num_experts)
        return FAIL(ST_USAGE,
                    "%s: the tensor %s is of an expert beyond the %" PRId64
                    " of config.json: correct it there",
                    path.s, human_quote(name).s, spec->num_experts);
    if (is.layer < spec->num_layers)
        return FAIL(ST_USAGE,
                    "%s: config.json gives the model no tensor %s: correct it there (biases are"
                    " attention_bias and mlp_bias), or remove the tensor",
                    path.s, human_quote(name).s);
    if (is_changed(spec, OPTION_NUM_LAYERS)) return ST_OK;
    return FAIL(ST_USAGE,
                "%s: the tensor %s is of a layer beyond the %" PRId64
                " of config.json: correct it there, or give --num-layers %" PRId64
                " for a part of the model",
                path.s, human_quote(name).s, spec->num_layers, spec->num_layers);
}

Status weights_check(const SafetensorsReader *weights, const FileTensors *list,
                     const ModelSpec *spec)
{
    const size_t n = safetensors_reader_count(weights);
    size_t embedding = 0; /* is the first tensor of every architecture's files */
    CLEANUP(array_free) bool *wanted = calloc(n + 1, sizeof *wanted);
    if (!wanted) return NO_MEMORY("for the names of tensors");
    for (int t = 0; t < list->n; t++) {
        size_t i = 0;
        TRY(check_wanted(weights, spec, &list->tensors[t], &i));
        wanted[i] = true;
        if (t == 0) embedding = i;
    }
    for (size_t i = 0; i < n; i++) {
        if (!wanted[i]) TRY(check_other(weights, spec, embedding, i));
    }
    return ST_OK;
}

/* ---- loading ---- */

/* The largest tensor, and the largest whose parameters have to be picked out of it. */
typedef struct Largest {
    int64_t any, picked;
} Largest;

static Largest find_largest(const FileTensors *list)
{
    Largest most = {0};
    for (int i = 0; i < list->n; i++) {
        const FileTensor *t = &list->tensors[i];
        const int64_t n = file_tensor_elements(t);
        if (n > most.any) most.any = n;
        if (t->form != FILE_FORM_ROWS && n > most.picked) most.picked = n;
    }
    return most;
}

size_t weights_bytes(const FileTensors *list)
{
    const Largest most = find_largest(list);
    return (size_t)(most.any + most.picked) * sizeof(float);
}

static Status read_tensor(const SafetensorsReader *weights, const FileTensor *t, float *values)
{
    size_t i = 0;
    const char *name =
        find_tensor(weights, t, &i) ? safetensors_reader_entry(weights, i)->name : t->name;
    return safetensors_reader_read(weights, name, t->n_dims, t->dim, values);
}

/* The parameter of which this is a part: where it lies, or picked out row by row. */
static float *part_of(const FileTensor *t, int part, float *tensor, float *picked)
{
    if (t->form == FILE_FORM_ROWS) return tensor + file_tensor_row(t, part, 0).first;
    for (int64_t row = 0; row < t->rows[part]; row++) {
        const FileRow from = file_tensor_row(t, part, row);
        for (int64_t c = 0; c < t->cols; c++)
            picked[row * t->cols + c] = tensor[from.first + c * from.step];
    }
    return picked;
}

Status weights_load(Session *s, const Model *model, const FileTensors *list,
                    const SafetensorsReader *weights)
{
    const Largest most = find_largest(list);
    CLEANUP(array_free) float *values = malloc((size_t)(most.any + most.picked) * sizeof *values);
    if (!values) return NO_MEMORY("for a tensor of the model's files");
    for (int i = 0; i < list->n; i++) {
        const FileTensor *t = &list->tensors[i];
        TRY(read_tensor(weights, t, values));
        for (int p = 0; p < t->n_parts; p++) {
            float *part = part_of(t, p, values, values + most.any);
            TRY(init_param(s, model, t->part[p], t->first_row * t->cols, t->rows[p] * t->cols,
                           part));
        }
    }
    TRY(session_run(s, PHASE_SETUP));
    return s->api->sync(s->backend);
}
