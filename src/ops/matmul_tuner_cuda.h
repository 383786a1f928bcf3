/* The algorithm that was fastest for each shape of product, kept in memory and on disk. The file is
 * keyed by device and library version; a corrupt one is ignored with a warning. */
#ifndef OPS_MATMUL_TUNER_CUDA_H
#define OPS_MATMUL_TUNER_CUDA_H

#include "ops/product_cuda.h"

bool matmul_tuner_cuda_find(Backend *be, const ProductShape *shape, cublasLtMatmulAlgo_t *out);
/* Written to disk at once. */
Status matmul_tuner_cuda_keep(Backend *be, const ProductShape *shape,
                              const cublasLtMatmulAlgo_t *algorithm);

#endif
