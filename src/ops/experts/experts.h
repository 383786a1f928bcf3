/* A feed-forward of experts: each token goes through K of E.
 *
 *     route           weights, choice | logits    which K, and what they count
 *     expert_rows     place, first | choice       where rows are once those of an expert stand together
 *     permute         xp | x, place               the rows of all tokens in that order
 *     grouped_matmul  c | a, b, first             each expert's rows by its own matrix
 *     unpermute       y | yp, place, weights      back, and the weighted sum of the K
 *
 * place [N, K] is the row of token n's j-th expert among the N K rows; first [E + 1] is where each
 * expert's rows begin, and after the last where they end. Both stay on the device: how many rows an expert
 * has is known there alone, and memory is that of N K rows whatever it is. */
#pragma once

#include <stdint.h>

enum { EXPERTS_MOST = 1024 };
