/* Flash attention in bf16. */
#include "ops/attention_cuda/attention_half_cuda.cuh"

template <int WIDTH> using Bf16Forward = HalfForward<__nv_bfloat16, WIDTH>;
template <int WIDTH> using Bf16Backward = HalfBackward<__nv_bfloat16, WIDTH>;

FLASH_ENTRIES(bf16, FLASH_TILES_HALF, Bf16Forward, Bf16Backward)
