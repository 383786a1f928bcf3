/* Flash attention in true fp32: no tensor cores. */
#include "ops/attention_cuda/attention_plain_tiles_cuda.cuh"

const FlashKernels attention_flash_f32 = {"fp32", 0, flash_forward<PlainForward>,
                                          flash_backward<PlainBackward, FLASH_TILES_F32>};
