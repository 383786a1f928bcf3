/* The gradient of one head of `flash` on a CPU (attention_cpu.h), in parts that threads may share:
 * prepare every block of queries, add every tile of keys, store every block. Where several heads of q
 * share one of k and v, the head leaves its dk and dv in its workspace; after that they are added to
 * those of its group, tile by tile. */
#pragma once

#include "ops/cpu/attention_cpu.h"

/* Where each part of a head's workspace begins; each holds every block of queries. */
typedef struct HeadLayout {
    int64_t q, dout, q_t, dout_t, dq, delta; /* _t: packed along the queries */
    int64_t added;                           /* how many tiles dq has so far */
    int64_t dk, dv;                          /* every tile, where a group adds them up */
    int64_t rows, columns, result;           /* bytes of a block's q or dout, q_t or dout_t, dq */
    int64_t bytes;
} HeadLayout;

/* Where each part of a thread's workspace begins: for a tile of keys and a block of queries. */
typedef struct TileLayout {
    int64_t keys, values, keys_t; /* _t: packed along the keys */
    int64_t p, ds, rounded_p, rounded_ds, p_t, ds_t, ds_rows;
    int64_t dk, dv, sums; /* sums: bytes of one of the two */
    int64_t bytes;
} TileLayout;

/* A head of q, in its workspace, that of its group's sums and that of the calling thread. */
typedef struct HeadGrad {
    const OpCall *call;
    const Microkernel *kernel;
    HeadMatrix dout, q, k, v, out, dq, dk, dv;
    HeadLayout of_head;
    TileLayout of_tile;
    int64_t head;
    char *head_space, *group_space, *tile_space;
} HeadGrad;

TileLayout attention_grad_head_tile_layout(const Microkernel *kernel, int64_t T, int64_t D);
HeadLayout attention_grad_head_layout(const Microkernel *kernel, int64_t T, int64_t D,
                                      int64_t group);
/* Bytes of a group's dk and dv; none where a head is a group. */
int64_t attention_grad_head_group_bytes(const Microkernel *kernel, int64_t T, int64_t D,
                                        int64_t group);
int64_t attention_grad_head_blocks(const Microkernel *kernel, int64_t T);
int64_t attention_grad_head_tiles(int64_t T);

void attention_grad_head_prepare(const HeadGrad *g, int64_t block);
/* The tile of keys from `key` on. It waits until all tiles before it have been added to dq: sums
 * have one order, whatever the number of threads. */
void attention_grad_head_add_tile(const HeadGrad *g, int64_t key);
void attention_grad_head_store(const HeadGrad *g, int64_t block);
/* dk and dv of that tile, added to the group's after those of the heads before this one; the last
 * head's are stored. */
void attention_grad_head_add_to_group(const HeadGrad *g, int64_t key);
