/* How heads of 16-bit elements are cut into tiles. */
#pragma once

#include "ops/attention_cuda/attention_launch_cuda.cuh"
#include "ops/attention_cuda/attention_tensor_cuda.cuh"

/* Two tiles of 16 rows for each warp halve the reads of keys and values from shared memory; wide heads
 * leave no registers for a second one.
 * <warp, width, slice, warps, keys, stages, blocks on an SM> */
template <typename E, int WIDTH>
using HalfForward = FlashByWidth<WIDTH, FlashForwardTiles<TensorWarp<E, 2>, 32, 32, 4, 64, 2, 3>,
                                 FlashForwardTiles<TensorWarp<E, 2>, 64, 64, 4, 64, 2, 2>,
                                 FlashForwardTiles<TensorWarp<E, 2>, 128, 128, 4, 64, 2, 2>,
                                 FlashForwardTiles<TensorWarp<E, 1>, 256, 256, 8, 64, 2, 1>,
                                 FlashForwardTiles<TensorWarp<E, 1>, 512, 256, 4, 32, 2, 1>>;

/* Tried on an H200 at T 16384, TFLOP/s: 225 at width 64 (204 with two tiles for each of four warps,
 * 185 with one block), 233 at width 128 (227 with two tiles in the GEMM for dq, 180 with tiles of
 * 32 queries).
 * <warp, warp for dq, width, slice, warps, queries, stages, blocks on an SM> */
template <typename E, int WIDTH>
using HalfBackward =
    FlashByWidth<WIDTH, FlashBackwardTiles<TensorWarp<E, 2>, TensorWarp<E, 2>, 32, 32, 4, 64, 2, 2>,
                 FlashBackwardTiles<TensorWarp<E, 1>, TensorWarp<E, 2>, 64, 64, 8, 64, 2, 2>,
                 FlashBackwardTiles<TensorWarp<E, 1>, TensorWarp<E, 1>, 128, 128, 8, 64, 2, 1>,
                 FlashBackwardTiles<TensorWarp<E, 1>, TensorWarp<E, 2>, 256, 128, 8, 32, 2, 1>,
                 FlashBackwardTiles<TensorWarp<E, 1>, TensorWarp<E, 1>, 512, 128, 4, 16, 2, 1>>;
