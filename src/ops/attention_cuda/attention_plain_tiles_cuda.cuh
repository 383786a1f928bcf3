/* How heads in true fp32 are cut into tiles. */
#pragma once

#include "ops/attention_cuda/attention_launch_cuda.cuh"
#include "ops/attention_cuda/attention_plain_cuda.cuh"

/* Width 64 on an H200, TFLOP/s at 512 tokens (4 x 16 heads) and at 16384: 27 and 40 with three
 * blocks of four warps, 21 and 37 with two of eight. Backward 20 and 38 with two blocks and 64
 * queries, 17 and 37 with three and 32 queries.
 * <warp, width, slice, warps, keys, stages, blocks on an SM> */
template <int WIDTH>
using PlainForward = FlashByWidth<WIDTH, FlashForwardTiles<PlainWarp, 32, 32, 8, 64, 2, 2>,
                                  FlashForwardTiles<PlainWarp, 64, 64, 4, 64, 1, 3>,
                                  FlashForwardTiles<PlainWarp, 128, 128, 8, 64, 1, 1>,
                                  FlashForwardTiles<PlainWarp, 256, 256, 4, 32, 1, 1>,
                                  FlashForwardTiles<PlainWarp, 512, 256, 4, 16, 1, 1>>;

/* <warp, warp for dq, width, slice, warps, queries, stages, blocks on an SM> */
template <int WIDTH>
using PlainBackward =
    FlashByWidth<WIDTH, FlashBackwardTiles<PlainWarp, PlainWarp, 32, 32, 4, 64, 2, 2>,
                 FlashBackwardTiles<PlainWarp, PlainWarp, 64, 64, 4, 64, 1, 2>,
                 FlashBackwardTiles<PlainWarp, PlainWarp, 128, 128, 8, 32, 1, 1>,
                 FlashBackwardTiles<PlainWarp, PlainWarp, 256, 128, 4, 16, 2, 1>,
                 FlashBackwardTiles<PlainWarp, PlainWarp, 512, 128, 2, 16, 1, 1>>;
