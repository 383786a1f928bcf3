#include "model/model.h"

#include "model/attention_alone.h"
#include "model/stages.h"
#include "model/step_cost.h"
#include "model/transform_chunk_head.h"
#include "model/transform_recompute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

DType model_act_dtype(Precision precision, DType full_dtype)
{
    switch (precision) {
    case PRECISION_BF16:
    case PRECISION_FP8: /* between its matmuls */
        return DT_BF16;
    case PRECISION_FP16:
        return DT_F16;
    case PRECISION_FP32:
    case PRECISION_TF32:
        return full_dtype;
    case PRECISION_COUNT:
        break;
    }
    plan_dtype_unknown(DT_COUNT, config_precisions[precision]);
}

/* An eager framework materialises the scores; otherwise nothing of size T x T is kept. */
static Attention resolve_attention(const Config *config)
{
    if (config->attention != ATTENTION_AUTO) return config->attention;
    return config->exec == EXEC_EAGER ? ATTENTION_NAIVE : ATTENTION_FLASH;
}

/* Products of fp32 operands may run on tensor cores. */
static void allow_tf32(Plan *plan)
{
    for (int i = 0; i < plan->n_nodes; i++) plan->nodes[i].attr.tf32 = true;
}

static void forward(Builder *b, Model *model)
{
    if (model->config.subject == SUBJECT_ATTENTION) {
        attention_alone_forward(b, model);
    } else {
        forward_build(b, model);
    }
}

static Status build(Model *model)
{
    Builder b;
    builder_init(&b, &model->plan);
    forward(&b, model);
    if (b.status == ST_OK && !model->eager) transform_fuse(&b);
    if (b.status == ST_OK) transform_chunk_head(&b, model);
    if (b.status == ST_OK) transform_decompose(&b, model);
    if (b.status == ST_OK && config_mode_saves(model->mode)) backward_build(&b, model);
    if (b.status == ST_OK && config_mode_saves(model->mode)) transform_recompute_gate(&b);
    if (b.status == ST_OK && config_mode_saves(model->mode)) transform_recompute(&b, model);
    if (b.status == ST_OK) transform_fp8(&b, model);
    if (b.status == ST_OK) transform_accumulate(&b, model);
    if (b.status == ST_OK) transform_comm_precision(&b, model);
    if (b.status == ST_OK) transform_data_parallel(&b, model);
    if (b.status == ST_OK && model->mode == MODE_FWD_GRAD) transform_forward_grad(&b, model);
    if (b.status == ST_OK && model->mode == MODE_TRAIN) optimizer_build(&b, model);
    if (b.status == ST_OK && model->mode != MODE_TRAIN) transform_fp8_end(&b, model, false);
    if (b.status == ST_OK && model->mode == MODE_TRAIN) transform_shard_gather(&b, model);
    if (model->config.precision == PRECISION_TF32) allow_tf32(&model->plan);
    const Status st = b.status;
    builder_free(&b);
    return st;
}

static void no_tensors(Model *m)
{
    m->tokens = m->targets = m->micro_tokens = m->micro_targets = m->logits = m->loss = m->state =
        PLAN_NONE;
    m->rope_cos = m->rope_sin = m->given_choice = PLAN_NONE;
    m->fp8.amax = m->fp8.history = m->fp8.recent = PLAN_NONE;
    for (int i = 0; i < ROPE_WIDTHS; i++) m->rope_wide[i] = (RopeTables){PLAN_NONE, PLAN_NONE};
    m->alone = (AttentionAlone){.qkv = {PLAN_NONE, PLAN_NONE, PLAN_NONE},
                                .out = PLAN_NONE,
                                .dout = PLAN_NONE,
                                .dqkv = {PLAN_NONE, PLAN_NONE, PLAN_NONE}};
}

Status model_build(Model *model, const Config *config, Mode mode, DType full_dtype)
{
    *model = (Model){.config = *config,
                     .mode = mode,
                     .attention = resolve_attention(config),
                     .full_dtype = full_dtype,
                     .act = model_act_dtype(config->precision, full_dtype),
                     .eager = config->exec == EXEC_EAGER};
    no_tensors(model);
    const Status st = build(model);
    if (st != ST_OK) model_free(model);
    return st;
}

void model_free(Model *model)
{
    plan_free(&model->plan);
    free(model->params);
    free(model->groups);
    free(model->stream);
    free(model->experts);
    *model = (Model){0};
}

static double flops_of_blocks(const Config *config, int64_t blocks)
{
    Model model;
    Config shallow = *config;
    shallow.model.num_layers = blocks;
    if (model_build(&model, &shallow, MODE_FWD, DT_F32) != ST_OK) return NAN;
    const double flops = step_cost_of(&model.plan).step.matmul_flops;
    model_free(&model);
    return flops;
}

/* FLOPs of `blocks` blocks that are all like the first ones, and of what is outside the blocks. */
static double flops_of_equal_blocks(const Config *config, int64_t blocks)
{
    const double one = flops_of_blocks(config, 1);
    return blocks == 1 ? one : one + (double)(blocks - 1) * (flops_of_blocks(config, 2) - one);
}

/* Of a model with experts not all blocks have some. */
static bool blocks_differ(const ModelSpec *m)
{
    for (int64_t l = 1; l < m->num_layers; l++) {
        if (model_spec_has_experts(m, l) != model_spec_has_experts(m, 0)) return true;
    }
    return false;
}

double model_forward_flops(const Config *config)
{
    if (config->subject == SUBJECT_ATTENTION) return flops_of_blocks(config, 1);
    if (blocks_differ(&config->model)) return flops_of_blocks(config, config->model.num_layers);
    const int64_t layers = config->model.num_layers, from = config->model.window_from;
    if (from <= 0 || from >= layers) return flops_of_equal_blocks(config, layers);
    /* The later blocks have the window. */
    Config windowed = *config;
    windowed.model.window_from = 0;
    const double all = flops_of_equal_blocks(config, from);
    const double one = flops_of_blocks(&windowed, 1);
    return all + (double)(layers - from) * (flops_of_blocks(&windowed, 2) - one);
}

static double parameters_of_blocks(const Config *config, int64_t blocks)
{
    Model model;
    Config shallow = *config;
    shallow.model.num_layers = blocks;
    if (model_build(&model, &shallow, MODE_FWD, DT_F32) != ST_OK) return NAN;
    const double n = (double)model.n_elements;
    model_free(&model);
    return n;
}

double model_parameters(const Config *config)
{
    if (blocks_differ(&config->model))
        return parameters_of_blocks(config, config->model.num_layers);
    const double one = parameters_of_blocks(config, 1);
    const double block = parameters_of_blocks(config, 2) - one;
    return one + (double)(config->model.num_layers - 1) * block;
}

int64_t model_active_parameters(const Model *model)
{
    const ModelSpec *spec = &model->config.model;
    int64_t idle = 0;
    for (int i = 0; i < model->n_params; i++) {
        const Param *p = &model->params[i];
        if (!strstr(p->name, ".experts.")) continue;
        const int64_t each = plan_elements(&model->plan.tensors[p->tensor]) / spec->num_experts;
        idle += each * (spec->num_experts - spec->experts_per_token);
    }
    return model->n_elements - idle;
}
