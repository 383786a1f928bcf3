/* The head and the loss over chunks of rows: the logits of a large vocabulary are the largest tensor of a
 * step, and the loss needs no two rows of them at once.
 *
 * For each chunk the logits, their loss and, where a backward pass follows, their gradient in place and the
 * products that take it to the head's input and weight: the backward pass starts from there. The gradient
 * of the weight is summed over the chunks in its own dtype. */
#pragma once

#include "model/model.h"

/* Rows of the logits at a time, all N of them where that is no fewer: it goes by sizes alone, and grows
 * with N.
 * Config.head_rows takes its place where it is set. */
int64_t transform_chunk_head_rows(const Config *config, int64_t N);

/* Follows transform_fuse(). Sets Model.logits and Model.head. Rows of logits are aligned, chunks or not.
 * Not for `eager`, whose logits are whole and contiguous. */
void transform_chunk_head(Builder *b, Model *model);
