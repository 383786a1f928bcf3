/* Flash attention in tf32, of heads that share keys and values, or with a window. */
#include "ops/attention_cuda/attention_tf32_tiles_cuda.cuh"

template <int WIDTH> using Tf32GeneralForward = FlashGeneral<Tf32Forward<WIDTH>>;
template <int WIDTH> using Tf32GeneralBackward = FlashGeneral<Tf32Backward<WIDTH>>;

const FlashKernels attention_flash_tf32_general = {
    "tf32", 80, flash_forward<Tf32GeneralForward>,
    flash_backward<Tf32GeneralBackward, FLASH_TILES_TF32>};
