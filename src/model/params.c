#include "base/array.h"
#include "model/stages.h"

#include <stdio.h>
#include <stdlib.h>

static int flat(Builder *b, const char *prefix, const char *name, TensorKind kind, DType dtype,
                int64_t n)
{
    char full[PLAN_NAME];
    snprintf(full, sizeof full, "%s%.40s", prefix, name);
    return builder_tensor(b, full, kind, dtype, DIMS(n));
}

/* Eager casts weights in every forward pass instead of keeping copies, as autocast does. */
static bool reads_narrow(const Model *model, bool matmul)
{
    return matmul && !model->eager && model->act != model->full_dtype;
}

/* A bf16 copy is the upper half of the fp32 parameter: only the lower half is stored beside it. */
static DType dtype_of(const Model *model, bool narrow, bool copy)
{
    if (copy && model->act == DT_BF16 && model->full_dtype == DT_F32) return DT_LOW16;
    return narrow && !copy ? model->act : model->full_dtype;
}

/* Says where the upper halves of `lower` are. */
static void params_split(Builder *b, int lower, int upper)
{
    if (b->status != ST_OK || b->plan->tensors[lower].dtype != DT_LOW16) return;
    b->plan->tensors[lower].upper = upper;
}

static void new_group(Builder *b, Model *model, const char *name, int64_t elements, bool matmul)
{
    if (b->status == ST_OK)
        b->status = array_grow(&model->groups, (size_t)model->n_groups, 1, sizeof *model->groups);
    if (b->status != ST_OK) return;
    ParamGroup g = {.copy = PLAN_NONE, .grad = PLAN_NONE, .m = PLAN_NONE, .v = PLAN_NONE};
    g.own.flat = g.own.copy = g.own.grad = PLAN_NONE;
    const bool narrow = reads_narrow(model, matmul);
    /* Without an optimizer nothing reads the full-precision parameters. */
    const bool copy = narrow && config_mode_saves(model->mode);
    g.flat = flat(b, "", name, TK_PARAM, dtype_of(model, narrow, copy), elements);
    if (copy) g.copy = flat(b, "copy of ", name, TK_WEIGHT_COPY, model->act, elements);
    params_split(b, g.flat, g.copy);
    if (config_mode_saves(model->mode)) {
        g.grad =
            flat(b, "grad of ", name, TK_GRAD, copy ? model->act : model->full_dtype, elements);
        if (model->mode == MODE_FWD_BWD && g.grad != PLAN_NONE)
            b->plan->tensors[g.grad].keep = true;
    }
    if (model->mode == MODE_TRAIN) {
        g.m = flat(b, "m of ", name, TK_MOMENT, model->full_dtype, elements);
        g.v = flat(b, "v of ", name, TK_MOMENT, model->full_dtype, elements);
    }
    model->groups[model->n_groups++] = g;
}

/* Under `eager` every parameter is a group of its own. */
void params_group(Builder *b, Model *model, const char *name, int64_t elements, bool matmul)
{
    if (!model->eager) new_group(b, model, name, elements, matmul);
}

static int window(Builder *b, const char *name, int of, int64_t offset, int64_t rows, int64_t cols)
{
    if (of == PLAN_NONE) return PLAN_NONE;
    const int64_t dim[2] = {rows, cols};
    return rows ? builder_view(b, name, of, offset, 2, dim, cols)
                : builder_view(b, name, of, offset, 1, dim + 1, cols);
}

/* What the forward pass reads of a range of the group, with a place for its gradient. */
static int readable(Builder *b, const ParamGroup *g, const char *name, int64_t offset, int64_t rows,
                    int64_t cols)
{
    const int read = window(b, name, g->copy == PLAN_NONE ? g->flat : g->copy, offset, rows, cols);
    const int grad = window(b, name, g->grad, offset, rows, cols);
    if (grad != PLAN_NONE) builder_grad_buffer(b, read, grad);
    return read;
}

int params_add(Builder *b, Model *model, const char *name, int64_t rows, int64_t cols,
               ParamInit init, double std)
{
    const int64_t n = (rows ? rows : 1) * cols;
    if (model->eager) new_group(b, model, name, n, true);
    if (b->status == ST_OK)
        b->status = array_grow(&model->params, (size_t)model->n_params, 1, sizeof *model->params);
    if (b->status != ST_OK) return PLAN_NONE;
    ParamGroup *g = &model->groups[model->n_groups - 1];
    Param *p = &model->params[model->n_params++];
    *p = (Param){.init = init, .std = std, .group = model->n_groups - 1, .first = g->used};
    snprintf(p->name, sizeof p->name, "%s", name);
    p->tensor = window(b, name, g->flat, g->used, rows, cols);
    p->grad = window(b, name, g->grad, g->used, rows, cols);
    const int read = readable(b, g, name, g->used, rows, cols);
    params_split(b, p->tensor, read);
    g->used += n;
    model->n_elements += n;
    return read;
}
