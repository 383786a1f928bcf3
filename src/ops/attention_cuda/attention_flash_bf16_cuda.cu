/* Flash attention in bf16. */
#include "ops/attention_cuda/attention_half_cuda.cuh"

template <int WIDTH> using Bf16Forward = HalfForward<__nv_bfloat16, WIDTH>;
template <int WIDTH> using Bf16Backward = HalfBackward<__nv_bfloat16, WIDTH>;

const FlashKernels attention_flash_bf16 = {"bf16", 80, flash_forward<Bf16Forward>,
                                           flash_backward<Bf16Backward, FLASH_TILES_HALF>};
