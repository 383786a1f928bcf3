/* config -> plan: the whole training step of the Transformer as data.
 *
 *     forward (forward.c, attention_alone.c) -> fused nodes (transform_fuse.c), head and loss in chunks
 *     (transform_chunk_head.c), or primitives for eager (transform_decompose.c) -> backward (backward.c) ->
 *     recomputation (transform_recompute.c) -> 8-bit operands (transform_fp8.c) -> sums over micro-batches
 *     (transform_accumulate.c) -> means over ranks (transform_data_parallel.c, transform_shard.c) ->
 *     optimizer (optimizer.c), or the backward pass cut off again (transform_forward_grad.c) */
#pragma once

#include "config/config.h"
#include "plan/builder.h"

typedef enum ParamInit { INIT_ONES, INIT_NORMAL } ParamInit;

/* One parameter under the name it has outside ("layers.0.attn.q_proj"), weights [out, in]. */
typedef struct Param {
    char name[64];
    int tensor; /* a window into its group's memory; where the rank keeps a shard, its shape only */
    int grad;   /* the same; PLAN_NONE where no backward pass runs */
    int group;
    int64_t first; /* element of the group */
    ParamInit init;
    double std;
} Param;

/* Parameters that lie next to each other and are updated together. */
typedef struct ParamGroup {
    int flat; /* the parameters, in full_dtype; in mode fwd matmul weights are in `act`; beside a bf16 copy
                     their lower halves */
    int copy;     /* 16-bit copy that the matmuls read, PLAN_NONE when there is none */
    int grad;     /* PLAN_NONE where no backward pass runs */
    int m, v;     /* PLAN_NONE but in mode train */
    int64_t used; /* elements given to parameters so far */
    /* What this rank updates, where ranks update shards (transform_shard.c); PLAN_NONE: everything. A shard
     * that is empty has one element, which nobody reads. */
    struct {
        int flat, copy, grad;
    } own;
    bool flat_is_shard, copy_is_shard; /* the rank keeps no more of them */
} ParamGroup;

/* The tensors of attention alone, all [B T, H D]; PLAN_NONE in a whole model, gradients where no backward
 * pass runs. */
typedef struct AttentionAlone {
    int qkv[3], out;
    int dout, dqkv[3];
} AttentionAlone;

/* The logits in chunks of rows, whose memory is used one after the other (transform_chunk_head.c). */
typedef struct HeadChunks {
    int n; /* 1: whole. Their tensors are numbered one after the other, from Model.logits on */
    int64_t rows;              /* of each but the last, which may have fewer */
    size_t bytes, whole_bytes; /* of one chunk, and what all rows would have */
    bool gradients;            /* of the head: the forward phase computes them */
} HeadChunks;

/* RoPE with one factor per column, as wide as q or, where it is narrower, as k. */
typedef struct RopeTables {
    int cos, sin; /* [T, H D] */
} RopeTables;
enum { ROPE_WIDTHS = 2 };

/* Which experts tokens went through, and where each expert's rows begin; PLAN_NONE in a block without
 * experts. */
typedef struct ExpertLayer {
    int choice, first;
} ExpertLayer;

typedef struct Model {
    Config config;
    Mode mode;
    Attention attention; /* what `auto` became */
    DType full_dtype;    /* fp32, or float64 for the reference */
    DType act;           /* inputs and outputs of matmuls */
    bool eager;
    Plan plan;
    Param *params;
    int n_params;
    ParamGroup *groups;
    int n_groups;
    int64_t n_elements; /* of all parameters */
    /* of a whole model, PLAN_NONE in attention alone */
    int tokens, targets;             /* int32, of the whole step: [N B, T] for N micro-batches */
    int micro_tokens, micro_targets; /* [B, T]: of the micro-batch at hand; the same where N is 1 */
    int rope_cos, rope_sin;          /* [T, R/2] */
    RopeTables
        rope_wide[ROPE_WIDTHS]; /* for eager, of different widths; PLAN_NONE after the last */
    int logits, loss;
    HeadChunks head;
    int given_choice;     /* [N, K]: of --routing other than model; PLAN_NONE */
    ExpertLayer *experts; /* of each block */
    int *stream;          /* the residual stream as each block finds it, one tensor per block */
    int state;            /* plan/step_state.h; PLAN_NONE in mode fwd without micro-batches */
    struct {
        int amax, history, recent; /* ops/fp8/amax_history.c; PLAN_NONE: not kept */
        char left[96];             /* linear layers of a block that stay bf16: "ffn/w13, ffn/w2" */
    } fp8;
    AttentionAlone alone;
} Model;

/* What matmuls take and give in this precision; `full_dtype` for fp32 and tf32. */
DType model_act_dtype(Precision precision, DType full_dtype);

/* `full_dtype` is DT_F32, or DT_F64 for the slow float64 reference of the whole step (fp32 only). */
Status model_build(Model *model, const Config *config, Mode mode, DType full_dtype);
void model_free(Model *model);

/* FLOPs of the matmuls of the forward pass of this config; NAN where no plan can be built. Where every block
 * has the same, plans of one and two blocks tell it: cheap for models of any depth. */
double model_forward_flops(const Config *config);
/* The parameters of a whole model in the same way. */
double model_parameters(const Config *config);
/* Of its parameters those that one token goes through: of each layer's experts only some. */
int64_t model_active_parameters(const Model *model);
