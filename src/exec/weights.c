#include "exec/weights.h"

#include "base/array.h"
#include "base/text.h"
#include "config/model_file.h"
#include "exec/init.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_bundled(const char *model)
{
    for (const ModelFile *file = model_file_bundled; file->name; file++) {
        if (strcmp(file->name, model) == 0) return true;
    }
    return false;
}

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

Status weights_open(SafetensorsReader **out, const char *model)
{
    CLEANUP(text_free) Text folder = {0};
    *out = NULL;
    if (!model || is_bundled(model)) return ST_OK;
    TRY(find_folder(&folder, model));
    return safetensors_reader_open(out, text_str(&folder));
}

void weights_close(SafetensorsReader **weights)
{
    safetensors_reader_close(*weights);
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
    const bool bare =
        !safetensors_reader_has(weights, t->name) && safetensors_reader_has(weights, t->bare);
    return safetensors_reader_read(weights, bare ? t->bare : t->name, t->n_dims, t->dim, values);
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
            TRY(init_param(s, model, t->part[p], part));
        }
    }
    TRY(session_run(s, PHASE_SETUP));
    return s->api->sync(s->backend);
}
