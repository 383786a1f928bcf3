/* Flash attention in f16. */
#include "ops/attention_cuda/attention_half_cuda.cuh"

template <int WIDTH> using F16Forward = HalfForward<__half, WIDTH>;
template <int WIDTH> using F16Backward = HalfBackward<__half, WIDTH>;

const FlashKernels attention_flash_f16 = {"fp16", 75, flash_forward<F16Forward>,
                                          flash_backward<F16Backward, FLASH_TILES_HALF>};
