/* Flash attention in bf16, of heads that share keys and values, or with a window. */
#include "ops/attention_cuda/attention_half_cuda.cuh"

template <int WIDTH> using Bf16GeneralForward = FlashGeneral<HalfForward<__nv_bfloat16, WIDTH>>;
template <int WIDTH> using Bf16GeneralBackward = FlashGeneral<HalfBackward<__nv_bfloat16, WIDTH>>;

const FlashKernels attention_flash_bf16_general = {
    "bf16", 80, flash_forward<Bf16GeneralForward>,
    flash_backward<Bf16GeneralBackward, FLASH_TILES_HALF>};
