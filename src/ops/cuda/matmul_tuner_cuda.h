/* The algorithm that was fastest for each shape of product, kept in memory and on disk. The file is
 * keyed by device and library version; a corrupt one is ignored with a warning. */
#ifndef OPS_CUDA_MATMUL_TUNER_CUDA_H
#define OPS_CUDA_MATMUL_TUNER_CUDA_H

#include "ops/cuda/gemm_cuda.h"

bool matmul_tuner_cuda_find(Backend *be, const ProductShape *shape, cublasLtMatmulAlgo_t *out);
/* Written to disk at once. Where another process has kept one for this shape interference, that one counts
 * and is handed back, but to `replace` a useless one: the same product is then the same bits in both. */
Status matmul_tuner_cuda_keep(Backend *be, const ProductShape *shape, bool replace,
                              cublasLtMatmulAlgo_t *algorithm);

#endif
