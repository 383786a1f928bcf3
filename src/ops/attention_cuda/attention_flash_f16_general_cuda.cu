/* Flash attention in f16, of heads that share keys and values, or with a window. */
#include "ops/attention_cuda/attention_half_cuda.cuh"

template <int WIDTH> using F16GeneralForward = FlashGeneral<HalfForward<__half, WIDTH>>;
template <int WIDTH> using F16GeneralBackward = FlashGeneral<HalfBackward<__half, WIDTH>>;

const FlashKernels attention_flash_f16_general = {
    "fp16", 75, flash_forward<F16GeneralForward>,
    flash_backward<F16GeneralBackward, FLASH_TILES_HALF>};
