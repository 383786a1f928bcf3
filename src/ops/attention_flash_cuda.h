/* `flash` on a GPU: the program's own kernels, for its place in the list of attention's implementations
 * (attention_cudnn.c, attention_cudnn_none.c). */
#ifndef OPS_ATTENTION_FLASH_CUDA_H
#define OPS_ATTENTION_FLASH_CUDA_H

#include "ops/op.h"

#ifdef __cplusplus
extern "C" {
#endif

const char *attention_flash_declines(const Plan *plan, const Node *node);
const char *attention_flash_declines_grad(const Plan *plan, const Node *node);
size_t attention_flash_workspace_grad(const Plan *plan, const Node *node, int threads);
Status attention_flash_prepare(const OpCall *call);
Status attention_flash_prepare_grad(const OpCall *call);
Status attention_flash_run(const OpCall *call);
Status attention_flash_run_grad(const OpCall *call);

#define ATTENTION_FLASH                                                                        \
    {                                                                                          \
        "flash", attention_flash_declines, NULL, attention_flash_run, attention_flash_prepare, \
            NULL, false                                                                        \
    }
#define ATTENTION_FLASH_GRAD                                                    \
    {                                                                           \
        "flash", attention_flash_declines_grad, attention_flash_workspace_grad, \
            attention_flash_run_grad, attention_flash_prepare_grad, NULL, false \
    }

#ifdef __cplusplus
}
#endif
#endif
