/* What the flash attention kernels are given (ops/attention.c has the formulas). */
#pragma once

#include "ops/cuda/launch_cuda.cuh"

#define FLASH_LOG2_E 1.4426950408889634F

/* A T x D matrix for every sequence and head. */
struct FlashMatrix {
    void *data;
    int64_t ld; /* elements from row to row */
    int64_t head_step, batch_step;
};

struct FlashShape {
    int T, D, heads;
    int count; /* matrices: sequences times heads */
    float scale;
    bool causal;
    bool vectorized; /* every row of every matrix is a whole number of aligned 16-byte vectors */
    bool level;      /* blocks are taken up one of each matrix, then the next of each */
    /* ---- for FlashGeneral alone ---- */
    int group; /* heads of q that share one of k and v */
    int key_heads;
    int window; /* number of keys that a query sees, its own the last; T: all */
};

/* The same tiles where heads share keys and values, or a query sees a window of keys. A kernel of
 * its own, so that the other keeps its registers. */
template <class Tiles> struct FlashGeneral : Tiles {
    static constexpr bool general = true;
};

/* What a block works on. A matrix has `parts` blocks, the last of which is taken up first. Matrix
 * by matrix, they are neighbours in time and find its keys and values in the cache. But causal
 * blocks differ in length, and where there are few of them it matters more that long ones are
 * spread over the SMs: then all matrices at once. */
struct FlashJob {
    int matrix, block;
};

__device__ __forceinline__ FlashJob flash_job(const FlashShape &s, int index, int parts,
                                              int matrices)
{
    if (s.level) return {index % matrices, parts - 1 - index / matrices};
    return {index / parts, parts - 1 - index % parts};
}

struct FlashForward {
    FlashShape shape;
    FlashMatrix q, k, v, out;
    float *lse;
};

struct FlashBackward {
    FlashShape shape;
    FlashMatrix dq, dk, dv, dout, q, k, v, out;
    const float *lse;
    /* ---- in the workspace ---- */
    float *delta;  /* rowsum(dout out) */
    float *dq_sum; /* tiles of dq as the kernel holds them, in fp32 */
    int *done;     /* blocks of keys whose share is in each tile of dq_sum */
    int *ticket;   /* blocks of keys that have been taken up */
    /* ---- where heads share keys ---- */
    float *group_sum; /* dk and dv of each block of keys as the kernel holds them, in fp32 */
    int *group_done;  /* heads of the group whose share is in them */
};

/* Matrix `item` of a tensor that has `heads` of them for every sequence. A reference to a parameter
 * of the kernel: a value would take a register from one tile to the next. */
struct FlashHead {
    int item;
    const int &heads;
};

__device__ __forceinline__ FlashHead flash_query_head(const FlashShape &s, int item)
{
    return {item, s.heads};
}

/* What head `item` of q reads of k and v. A group divides the heads, so that it divides the
 * matrices of all sequences, too. */
template <class C>
__device__ __forceinline__ FlashHead flash_key_head(const FlashShape &s, int item)
{
    if constexpr (C::general)
        return {item / s.group, s.key_heads};
    else
        return {item, s.heads};
}

/* The first element of a head, from that row and column on. */
template <typename E>
__device__ __forceinline__ E *flash_start(const FlashMatrix &m, FlashHead head, int row, int column)
{
    return static_cast<E *>(m.data) + head.item / head.heads * m.batch_step +
           head.item % head.heads * m.head_step + row * m.ld + column;
}

__host__ __device__ constexpr int flash_blocks(int n, int size)
{
    return (n + size - 1) / size;
}

/* The kernels of one precision (attention_flash_PRECISION_cuda.cu). With `prepare` nothing is launched:
 * kernels are told how much shared memory they may take, or the chip has too little and the message
 * says so. */
struct FlashKernels {
    const char *name;
    int capability; /* the least that has such tensor cores */
    Status (*forward)(const Backend *be, const FlashForward &f, bool prepare);
    Status (*backward)(const Backend *be, const FlashBackward &f, void *workspace, bool prepare);
};

extern const FlashKernels attention_flash_bf16, attention_flash_f16, attention_flash_tf32,
    attention_flash_f32;
extern const FlashKernels attention_flash_bf16_general, attention_flash_f16_general,
    attention_flash_tf32_general, attention_flash_f32_general;
