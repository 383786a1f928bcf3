/* Flash attention of fp32 heads whose GEMMs round their operands to tf32. */
#include "ops/attention_cuda/attention_launch_cuda.cuh"
#include "ops/attention_cuda/attention_tensor_cuda.cuh"

using Single = TensorWarp<float, 1>; /* 16 rows */
using Double = TensorWarp<float, 2>;

/* <warp, width, slice, warps, keys, stages, blocks on an SM> */
template <int WIDTH>
using Tf32Forward = FlashByWidth<WIDTH, FlashForwardTiles<Double, 32, 32, 4, 64, 2, 2>,
                                 FlashForwardTiles<Double, 64, 64, 4, 64, 2, 2>,
                                 FlashForwardTiles<Single, 128, 128, 8, 32, 2, 1>,
                                 FlashForwardTiles<Single, 256, 256, 4, 32, 2, 1>,
                                 FlashForwardTiles<Single, 512, 256, 2, 16, 2, 1>>;

/* <warp, warp for dq, width, slice, warps, queries, stages, blocks on an SM> */
template <int WIDTH>
using Tf32Backward = FlashByWidth<WIDTH, FlashBackwardTiles<Double, Double, 32, 32, 4, 64, 2, 2>,
                                  FlashBackwardTiles<Single, Double, 64, 64, 8, 64, 2, 1>,
                                  FlashBackwardTiles<Single, Single, 128, 128, 8, 32, 1, 1>,
                                  FlashBackwardTiles<Single, Single, 256, 128, 4, 16, 2, 1>,
                                  FlashBackwardTiles<Single, Single, 512, 128, 2, 16, 1, 1>>;

const FlashKernels attention_flash_tf32 = {"tf32", 80, flash_forward<Tf32Forward>,
                                           flash_backward<Tf32Backward, FLASH_TILES_TF32>};
