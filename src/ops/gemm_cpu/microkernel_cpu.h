/* A micro-kernel multiplies two packed micro-panels into one tile of MR x NR of the result. There
 * is one for each instruction set, in a file of its own; the CPU is asked which of them run here.
 *
 * A micro-panel holds MR lines of op(a) (or NR of op(b) transposed) along k, KR numbers of a line
 * together: number k of line r is at (k / KR * lines + r) * KR + k % KR. AMX's micro-panels of b
 * have another order within their KR, and those whose numbers are split have an order that only
 * their packers and multiply know. */
#pragma once

#include "ops/gemm_cpu/pack_cpu.h"

enum { MICROKERNEL_UNIT = 96 }; /* a multiple of every MR and NR */

/* Where sums are read from and written to. */
typedef struct MicrokernelTile {
    const float *from; /* NULL: they start from zero */
    int64_t ld_from;   /* from row to row */
    float *to;         /* may be `from` */
    int64_t ld_to;
} MicrokernelTile;

typedef struct Microkernel {
    const char *name;
    const char *needs; /* words of cpu_features.h; NULL: runs everywhere */
    DType operand;     /* what is multiplied; micro-panels hold it, or `splits` of it */
    int mr, nr, kr;
    PackPanel *pack_a, *pack_b;
    /* Adds `groups` >= 1 groups of KR to the tile. Sums continue in the order of k: dividing k into
     * KC changes no bit. */
    void (*multiply)(int64_t groups, const void *a, const void *b, const MicrokernelTile *tile);
    int kc_bytes; /* KC, as bytes of a line: a micro-panel of b stays in the first-level cache */
    int private_lines; /* of a block with private panels, 1 or 2 units; 0: all panels are shared */
    int mc;            /* where all are shared: MC rows of a stay in the second-level cache */
    int splits;        /* numbers of bf16 whose sum is one of `operand`; 0: it is not split */
    /* Computes the GEMM where packing finds a number that micro-panels cannot hold (PackSource);
     * NULL: there is none. */
    const struct Microkernel *fallback;
} Microkernel;

extern const Microkernel microkernel_plain;

/* Those of this architecture, best first, ended by NULL: microkernel_cpu_ARCHITECTURE.c. */
extern const Microkernel *const microkernel_list[];

typedef struct MicrokernelNames {
    char s[64];
} MicrokernelNames;

/* Those that run here: "bfmmla neon plain". */
MicrokernelNames microkernel_names(void);

/* The best one that runs here for `operand`; NULL when none does. DT_F32 always has one. */
const Microkernel *microkernel_find(DType operand);
