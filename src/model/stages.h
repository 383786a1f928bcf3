/* The stages that make the plan of a step, in the order in which model_build() runs them.
 * attention_alone.h is the other forward pass; transform_chunk_head.h comes after transform_fuse(),
 * transform_recompute.h after backward_build(). */
#pragma once

#include "model/model.h"

/* ---- forward.c ---- */

/* Appends inputs, parameters, setup, the forward pass and the loss; fills the model's tensor ids. */
void forward_build(Builder *b, Model *model);

/* ---- params.c ---- */

/* Parameters in groups of contiguous memory: one for what stays fp32 in a layer (norms), one for its matmul
 * weights, so that the optimizer runs over flat memory and q, k and v (or w1 and w3) can be multiplied as one
 * matrix. Under `eager` every parameter is a group of its own. */

/* The parameters added next lie together. `matmul`: matmuls read their 16-bit copies. */
void params_group(Builder *b, Model *model, const char *name, int64_t elements, bool matmul);

/* Adds one parameter to the newest group and returns the tensor that the forward pass reads (the
 * 16-bit copy where there is one). n_dims is 1 (norms: cols) or 2 (rows x cols). */
int params_add(Builder *b, Model *model, const char *name, int64_t rows, int64_t cols,
               ParamInit init, double std);

/* ---- transform_fuse.c ---- */

/* What `eager` runs one by one as one node: matmuls of one input by weights that lie side by side
 * (q, k and v; w1 and w3), the RoPE of q and k, and the gate that reads both halves. Outputs become
 * windows into one tensor. */

/* Follows the forward pass and comes before everything else. */
void transform_fuse(Builder *b);

/* ---- transform_decompose.c ---- */

/* Replaces fused nodes by the primitives an eager framework would launch: all of them under `eager`,
 * the softmax alone where attention is `naive`. Tensors keep their numbers. */
void transform_decompose(Builder *b, Model *model);

/* Appends `node` (its operands are in the plan already): as it is, or as primitives under `eager`. */
void transform_decompose_node(Builder *b, const Model *model, const Node *node);

/* ---- backward.c ---- */

/* Walks the forward nodes from the loss, or the result of attention alone, back and appends each
 * op's own gradient nodes. A head in chunks has its gradients already: the walk starts at its input. */
void backward_build(Builder *b, const Model *model);

/* The gradient of the loss: the loss scale, by the number of micro-batches, in the step state. */
int backward_seed(Builder *b, const Model *model);

/* ---- transform_recompute_gate.c ---- */

/* The gradient of w2 reads g = silu(h1) h3. The gradient of that gate reads h1 and h3, and makes g of
 * them once more, in the memory of dg: so no block keeps its g from the forward pass on. The weight's
 * gradient waits for it. */

/* Follows the backward pass. */
void transform_recompute_gate(Builder *b);

/* ---- transform_fp8.c ---- */

/* fp8: the matmuls of the blocks multiply 8-bit floats. Each operand is quantized where it is first read, in
 * the layouts in which it will be, and what backward reads is the 8-bit copy. A linear layer whose sizes are
 * no multiples of 16 stays as it is. */

/* Follows transform_recompute(). */
void transform_fp8(Builder *b, Model *model);
/* Which linear layer of a block the matmul is of, by its scope; LINEAR_COUNT: of none. */
LinearLayer transform_fp8_linear(const Node *node);
/* Enters what this step has seen of the numbers' sizes: the end of a step without an optimizer, otherwise
 * before that decides. `has_norm`: all gradients have been looked at already. */
void transform_fp8_end(Builder *b, const Model *model, bool has_norm);

/* ---- transform_accumulate.c ---- */

/* Gradient accumulation: the loss and the gradients of parameters are summed over the micro-batches of a
 * step, in fp32. What the optimizer and others read are the sums. Follows transform_recompute(). */
void transform_accumulate(Builder *b, Model *model);

/* ---- transform_comm_precision.c ---- */

/* Gradients that travel in another precision are rounded to it, and the optimizer reads their means as they
 * arrive. Follows transform_accumulate(). */
void transform_comm_precision(Builder *b, Model *model);

/* ---- transform_data_parallel.c ---- */

/* Several ranks run the step, each on a batch of its own: gradients become their means over all ranks before
 * the optimizer reads them. Follows transform_comm_precision(): only the sums of all micro-batches travel. */
void transform_data_parallel(Builder *b, Model *model);

/* ---- transform_shard.c ---- */

/* What transform_data_parallel() does where ranks keep shards: zero1 and fsdp. */
void transform_shard(Builder *b, Model *model);

/* Follows the optimizer: with zero1 it has updated one shard, and all ranks need all of them. */
void transform_shard_gather(Builder *b, const Model *model);

/* ---- transform_forward_grad.c ---- */

/* A forward pass with gradients enabled: the backward pass is cut off, and what it would have read
 * stays in memory until the end of the step. No memory is planned for gradients. */

/* The plan ends with its backward pass, recomputation included. */
void transform_forward_grad(Builder *b, Model *model);

/* ---- optimizer.c ---- */

/* Appends unscaling, clipping and AdamW over all groups of parameters. */
void optimizer_build(Builder *b, const Model *model);

/* True when a step can be skipped or clipped, so that all gradients are looked at first. */
bool optimizer_needs_norm(const Config *config);
