/* --blas fastest: our own product or the system's, whichever took less time for a shape on this processor. Each shape is
 * measured once and the choice kept (base/disk_cache.h), so that the next run has the same bits. */
#ifndef OPS_CPU_MATMUL_CHOICE_CPU_H
#define OPS_CPU_MATMUL_CHOICE_CPU_H

#include "ops/op.h"

/* `call` is the node's, before its first run; neither reads nor writes its tensors. */
Status matmul_choice_cpu(const OpCall *call, const OpImpl *own, const OpImpl *system,
                         const OpImpl **faster);

#endif
