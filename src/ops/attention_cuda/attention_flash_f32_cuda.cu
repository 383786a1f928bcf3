/* Flash attention in true fp32: no tensor cores. */
#include "ops/attention_cuda/attention_launch_cuda.cuh"
#include "ops/attention_cuda/attention_plain_cuda.cuh"

/* Width 64 on an H200, TFLOP/s at 512 tokens (4 x 16 heads) and at 16384: 27 and 40 with three
 * blocks of four warps, 21 and 37 with two of eight. Backward 20 and 38 with two blocks and 64
 * queries, 17 and 37 with three and 32 queries. <warp, width, slice, warps, keys, stages, blocks on
 * an SM> */
template <int WIDTH> struct PlainForward;
template <> struct PlainForward<32> : FlashForwardTiles<PlainWarp, 32, 32, 8, 64, 2, 2> {
};
template <> struct PlainForward<64> : FlashForwardTiles<PlainWarp, 64, 64, 4, 64, 1, 3> {
};
template <> struct PlainForward<128> : FlashForwardTiles<PlainWarp, 128, 128, 8, 64, 1, 1> {
};
template <> struct PlainForward<256> : FlashForwardTiles<PlainWarp, 256, 256, 4, 32, 1, 1> {
};
template <> struct PlainForward<512> : FlashForwardTiles<PlainWarp, 512, 256, 4, 16, 1, 1> {
};

/* <warp, warp for dq, width, slice, warps, queries, stages, blocks on an SM> */
template <int WIDTH> struct PlainBackward;
template <>
struct PlainBackward<32> : FlashBackwardTiles<PlainWarp, PlainWarp, 32, 32, 4, 64, 2, 2> {
};
template <>
struct PlainBackward<64> : FlashBackwardTiles<PlainWarp, PlainWarp, 64, 64, 4, 64, 1, 2> {
};
template <>
struct PlainBackward<128> : FlashBackwardTiles<PlainWarp, PlainWarp, 128, 128, 8, 32, 1, 1> {
};
template <>
struct PlainBackward<256> : FlashBackwardTiles<PlainWarp, PlainWarp, 256, 128, 4, 16, 2, 1> {
};
template <>
struct PlainBackward<512> : FlashBackwardTiles<PlainWarp, PlainWarp, 512, 128, 2, 16, 1, 1> {
};

FLASH_ENTRIES(f32, FLASH_TILES_F32, PlainForward, PlainBackward)
