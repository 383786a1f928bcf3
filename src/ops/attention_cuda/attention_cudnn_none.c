/* This build found no cuDNN. */
#include "ops/attention_cuda/attention_flash_cuda.h"
#include "ops/cuda/impls_cuda.h"

static const char *declines(const Plan *plan, const Node *node)
{
    (void)plan;
    (void)node;
    return "this build has no cuDNN (install it and build again, or use --attention flash)";
}

const OpImpl attention_cuda[] = {{"cudnn", declines}, ATTENTION_FLASH, {0}};
const OpImpl attention_grad_cuda[] = {{"cudnn", declines}, ATTENTION_FLASH_GRAD, {0}};
