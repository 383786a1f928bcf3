/* How fp32 heads are cut into tiles whose GEMMs round to tf32. */
#pragma once

#include "ops/attention_cuda/attention_launch_cuda.cuh"
#include "ops/attention_cuda/attention_tensor_cuda.cuh"

using Tf32Single = TensorWarp<float, 1>; /* 16 rows */
using Tf32Double = TensorWarp<float, 2>;

/* <warp, width, slice, warps, keys, stages, blocks on an SM> */
template <int WIDTH>
using Tf32Forward = FlashByWidth<WIDTH, FlashForwardTiles<Tf32Double, 32, 32, 4, 64, 2, 2>,
                                 FlashForwardTiles<Tf32Double, 64, 64, 4, 64, 2, 2>,
                                 FlashForwardTiles<Tf32Single, 128, 128, 8, 32, 2, 1>,
                                 FlashForwardTiles<Tf32Single, 256, 256, 4, 32, 2, 1>,
                                 FlashForwardTiles<Tf32Single, 512, 256, 2, 16, 2, 1>>;

/* <warp, warp for dq, width, slice, warps, queries, stages, blocks on an SM> */
template <int WIDTH>
using Tf32Backward =
    FlashByWidth<WIDTH, FlashBackwardTiles<Tf32Double, Tf32Double, 32, 32, 4, 64, 2, 2>,
                 FlashBackwardTiles<Tf32Single, Tf32Double, 64, 64, 8, 64, 2, 1>,
                 FlashBackwardTiles<Tf32Single, Tf32Single, 128, 128, 8, 32, 1, 1>,
                 FlashBackwardTiles<Tf32Single, Tf32Single, 256, 128, 4, 16, 2, 1>,
                 FlashBackwardTiles<Tf32Single, Tf32Single, 512, 128, 2, 16, 1, 1>>;
