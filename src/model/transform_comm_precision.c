#include "base/array.h"
#include "model/gradient_moves.h"
#include "model/stages.h"

#include <stdio.h>

static DType travels_as(const Config *config)
{
    return config->comm_precision == COMM_PRECISION_BF16 ? DT_BF16 : DT_F32;
}

static int convert(Builder *b, const Model *model, int grad)
{
    const DType dtype = travels_as(&model->config);
    const Tensor t = *builder_at(b, grad);
    char name[PLAN_NAME];
    if (t.dtype == dtype) return PLAN_NONE;
    snprintf(name, sizeof name, "%s %.46s", plan_dtype_name(dtype), t.name);
    const int sent = builder_tensor(b, name, TK_GRAD, dtype, t.n_dims, t.dim);
    builder_scope(b, PLAN_NONE, "ranks/cast");
    builder_node(b, OP_cast, IDS(sent), IDS(grad));
    return sent;
}

void transform_comm_precision(Builder *b, Model *model)
{
    if (model->config.ranks <= 1 || model->config.comm_precision == COMM_PRECISION_AUTO) return;
    CLEANUP(gradient_moves_end) GradientMoves moves = {.move = convert};
    gradient_moves_begin(&moves, b, model);
    for (int n = 0; n < moves.n_old && b->status == ST_OK; n++) {
        b->status = plan_append_node(b->plan, &moves.old[n]);
        if (b->status == ST_OK) gradient_moves_after(&moves, n);
    }
}
