/* How kernels are launched: operands of a call, the C++ type of a dtype, grids and blocks. */
#pragma once

#include "backend/cuda_backend.h"
#include "ops/cuda/impls_cuda.h"
#include "ops/cuda/memory_access_cuda.cuh"

#include <algorithm>

/* Rows of this many elements, or multiples, hold whole 16-byte vectors in every dtype. */
enum { WIDTH = 8 };

/* First in every kernel that launch_dependent() starts: its blocks may run before the kernel they
 * depend on is done. */
__device__ __forceinline__ void wait_for_dependency()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Programmatic dependent launch, where the GPU has it: the kernel starts while the one before it
 * still drains, which hides the microsecond of its start. It must call wait_for_dependency() before
 * it touches memory. */
template <typename... Parameters, typename... Arguments>
static inline Status launch_dependent(const Backend *be, void (*kernel)(Parameters...), dim3 grid,
                                      dim3 threads, Arguments... arguments)
{
    cudaLaunchAttribute dependent = {};
    dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    dependent.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = threads;
    config.stream = be->stream;
    config.attrs = &dependent;
    config.numAttrs = be->capability >= 90 ? 1 : 0;
    return CUDA_STATUS(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

/* Rows start 16-byte aligned and hold whole vectors: the condition of the fast kernels. */
static inline bool is_vectorizable(const void *data, const Tensor *t)
{
    if (!t) return true;
    return plan_width(t) % WIDTH == 0 && t->ld % WIDTH == 0 && ((uintptr_t)data & 15U) == 0;
}

static inline int64_t blocks_for(int64_t items, int64_t per_block)
{
    return (items + per_block - 1) / per_block;
}

/* Runs the statement with T, the C++ type of a dtype; fails for a dtype that no kernel takes. */
#define DISPATCH_FLOAT(dtype, T, ...)                                                   \
    do {                                                                                \
        if ((dtype) == DT_F32) {                                                        \
            using T = float;                                                            \
            __VA_ARGS__;                                                                \
        } else if ((dtype) == DT_BF16) {                                                \
            using T = __nv_bfloat16;                                                    \
            __VA_ARGS__;                                                                \
        } else if ((dtype) == DT_F16) {                                                 \
            using T = __half;                                                           \
            __VA_ARGS__;                                                                \
        } else                                                                          \
            return FAIL(ST_UNSUPPORTED, "%s: no CUDA kernel for %s", call->node->scope, \
                        plan_dtype_name(dtype));                                        \
    } while (0)

/* Aborts on a dtype that Operand was not written for. float64 is for kernels that read it themselves. */
static inline Operand operand_of(const void *data, const Tensor *t)
{
    if (!t) return {nullptr, DT_F32, 0};
    if (t->dtype != DT_F32 && t->dtype != DT_BF16 && t->dtype != DT_F16 && t->dtype != DT_F64)
        plan_dtype_unknown(t->dtype, "an operand of a CUDA kernel");
    return {const_cast<void *>(data), t->dtype, t->ld};
}

static inline Operand operand_out(const OpCall *call, int i)
{
    return operand_of(op_out(call, i), op_out_shape(call, i));
}

static inline Operand operand_in(const OpCall *call, int i)
{
    return operand_of(op_in(call, i), op_in_shape(call, i));
}

/* Blocks along x for this many items of work; kernels loop from block to block + gridDim.x. */
static inline unsigned grid_blocks(int64_t items)
{
    return (unsigned)std::min<int64_t>(items, 0x7fffffff);
}

/* The fewest blocks, up to `most`, whose numbers of items differ by at most one. */
static inline int even_blocks(int64_t items, int64_t most)
{
    return (int)blocks_for(items, blocks_for(items, most));
}

/* A whole number of warps for this many items, at most `most`. */
static inline int block_threads(int64_t items, int most)
{
    return (int)std::min<int64_t>((items + 31) / 32 * 32, most);
}

/* A grid for elementwise work on rows of `items` items: rows along x (kernels loop from row to row
 * + gridDim.x), and along y parts of at most `most` items, about equally long. */
struct RowGrid {
    dim3 grid;
    int threads;
};

static inline RowGrid row_grid(int64_t rows, int64_t items, int most)
{
    const int64_t parts = blocks_for(items, most);
    return {dim3(grid_blocks(rows), (unsigned)parts),
            block_threads(blocks_for(items, parts), most)};
}
