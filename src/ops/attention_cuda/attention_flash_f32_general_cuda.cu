/* Flash attention in true fp32, of heads that share keys and values, or with a window. */
#include "ops/attention_cuda/attention_plain_tiles_cuda.cuh"

template <int WIDTH> using PlainGeneralForward = FlashGeneral<PlainForward<WIDTH>>;
template <int WIDTH> using PlainGeneralBackward = FlashGeneral<PlainBackward<WIDTH>>;

const FlashKernels attention_flash_f32_general = {
    "fp32", 0, flash_forward<PlainGeneralForward>,
    flash_backward<PlainGeneralBackward, FLASH_TILES_F32>};
