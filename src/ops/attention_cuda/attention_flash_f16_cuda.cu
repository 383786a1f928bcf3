/* Flash attention in f16. */
#include "ops/attention_cuda/attention_half_cuda.cuh"

template <int WIDTH> using F16Forward = HalfForward<__half, WIDTH>;
template <int WIDTH> using F16Backward = HalfBackward<__half, WIDTH>;

FLASH_ENTRIES(f16, FLASH_TILES_HALF, F16Forward, F16Backward)
