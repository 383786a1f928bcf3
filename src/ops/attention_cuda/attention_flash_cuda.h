/* `flash` on a GPU: the program's own kernels, for its place in the list of attention's implementations
 * (attention_cudnn.c, attention_cudnn_none.c). */
#pragma once

#include "ops/gpu_support.h"

#ifdef __cplusplus
extern "C" {
#endif

Status attention_flash_prepare(const OpCall *call);
Status attention_flash_prepare_grad(const OpCall *call);
Status attention_flash_run(const OpCall *call);
Status attention_flash_run_grad(const OpCall *call);

#define ATTENTION_FLASH                                                           \
    {                                                                             \
        "flash", gpu_support_attention_declines_flash, NULL, attention_flash_run, \
            attention_flash_prepare, NULL, false                                  \
    }
#define ATTENTION_FLASH_GRAD                                                      \
    {                                                                             \
        "flash", gpu_support_attention_declines_flash_grad,                       \
            gpu_support_attention_workspace_flash_grad, attention_flash_run_grad, \
            attention_flash_prepare_grad, NULL, false                             \
    }

#ifdef __cplusplus
}
#endif
