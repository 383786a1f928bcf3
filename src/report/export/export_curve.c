#include "report/export/export_curve.h"

#include "base/array.h"
#include "base/i64.h"
#include "base/json_text.h"
#include "bench/study/curve_cell.h"
#include "exec/init.h"
#include "exec/param_values.h"
#include "model/file_tensor.h"
#include "report/export/export_metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 20 }; /* elements made at a time */

typedef struct CurveFile {
    const Config *config;
    const Model *model;
    const FileTensors *tensors;
    CurveText *text;
    Safetensors *file;
} CurveFile;

static Status put_number(const CurveFile *f, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return safetensors_metadata(f->file, name, text);
}

static Status put_real(const CurveFile *f, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    return safetensors_metadata(f->file, name, text);
}

static Status put_text(const CurveFile *f)
{
    CLEANUP(json_text_free) json_t *json = curve_text_json(f->text);
    CLEANUP(array_free) char *words = json ? json_text_dumps(json, JSON_COMPACT) : NULL;
    return words ? safetensors_metadata(f->file, "text", words) : NO_MEMORY("for a file's header");
}

static Status put_metadata(const CurveFile *f)
{
    const Config *c = f->config;
    TRY(safetensors_metadata(f->file, "format", "roofstep curve 1"));
    TRY(safetensors_metadata(f->file, "size", c->model.size));
    TRY(export_metadata_sizes(f->file, c));
    TRY(put_real(f, "lr", c->lr));
    TRY(put_real(f, "clip", c->clip));
    TRY(put_number(f, "lr_warmup", curve_cell_warmup(c->curve)));
    TRY(put_number(f, "last", curve_cell_last(c->curve)));
    return put_text(f);
}

static Status declare(const CurveFile *f)
{
    const int64_t tokens[] = {f->config->curve * f->config->batch, f->config->ctx + 1};
    for (int i = 0; i < f->tensors->n; i++) {
        const FileTensor *t = &f->tensors->tensors[i];
        char name[FILE_TENSOR_NAME + 16];
        snprintf(name, sizeof name, "param.%s", t->name);
        TRY(safetensors_declare(f->file, name, DT_F32, t->n_dims, t->dim));
    }
    TRY(safetensors_declare(f->file, "tokens", DT_I32, 2, tokens));
    return safetensors_begin_data(f->file);
}

static Status write_param(const CurveFile *f, int param, float *values)
{
    const int64_t all = param_values_count(f->model, param);
    for (int64_t first = 0; first < all; first += CHUNK) {
        const int64_t n = i64_min(all - first, CHUNK);
        init_param_values(f->model, param, first, n, values);
        TRY(safetensors_data(f->file, values, (size_t)n * sizeof *values));
    }
    return ST_OK;
}

static Status write_params(const CurveFile *f)
{
    CLEANUP(array_free) float *values = malloc(CHUNK * sizeof *values);
    if (!values) return NO_MEMORY("for initial values");
    for (int i = 0; i < f->tensors->n; i++) {
        const FileTensor *t = &f->tensors->tensors[i];
        for (int p = 0; p < t->n_parts; p++) TRY(write_param(f, t->part[p], values));
    }
    return ST_OK;
}

static Status write_batch(const CurveFile *f, int64_t step, int32_t *ids)
{
    const int64_t width = f->config->ctx, rows = f->config->batch;
    int32_t *tokens = ids, *targets = ids + rows * width;
    TRY(curve_text_batch(f->text, width, (uint64_t)f->config->seed, step * rows, rows, tokens,
                         targets));
    for (int64_t r = 0; r < rows; r++) {
        TRY(safetensors_data(f->file, tokens + r * width, (size_t)width * sizeof *tokens));
        TRY(safetensors_data(f->file, targets + (r + 1) * width - 1, sizeof *targets));
    }
    return ST_OK;
}

/* The text knows its windows from the first batch on. */
static Status write_file(const CurveFile *f)
{
    const size_t n = (size_t)(f->config->batch * f->config->ctx);
    CLEANUP(array_free) int32_t *ids = malloc(2 * n * sizeof *ids);
    if (!ids) return NO_MEMORY("for %zu tokens", n);
    TRY(curve_text_batch(f->text, f->config->ctx, (uint64_t)f->config->seed, 0, 1, ids, ids + n));
    TRY(put_metadata(f));
    TRY(declare(f));
    TRY(write_params(f));
    for (int64_t step = 0; step < f->config->curve; step++) TRY(write_batch(f, step, ids));
    return safetensors_finish(f->file);
}

Status export_curve(const Config *config, CurveText *text, const char *path)
{
    Config plain = *config; /* the start is the same in every precision */
    CLEANUP(model_free) Model model = {0};
    CLEANUP(file_tensor_free) FileTensors tensors = {0};
    CLEANUP(safetensors_abandon) Safetensors file = {.file = {.fd = -1}};
    if (config->model.architecture != ARCHITECTURE_OWN)
        return FAIL(ST_UNSUPPORTED, "PyTorch follows no curve of a model from a configuration "
                                    "file: use --size, or its dimensions");
    plain.precision = PRECISION_FP32;
    TRY(model_build(&model, &plain, MODE_FWD, DT_F32));
    TRY(file_tensor_list(&tensors, &model));
    TRY(safetensors_open(&file, path));
    const CurveFile f = {&plain, &model, &tensors, text, &file};
    return write_file(&f);
}
