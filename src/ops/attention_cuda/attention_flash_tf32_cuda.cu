/* Flash attention of fp32 heads whose GEMMs round their operands to tf32. */
#include "ops/attention_cuda/attention_tf32_tiles_cuda.cuh"

const FlashKernels attention_flash_tf32 = {"tf32", 80, flash_forward<Tf32Forward>,
                                           flash_backward<Tf32Backward, FLASH_TILES_TF32>};
