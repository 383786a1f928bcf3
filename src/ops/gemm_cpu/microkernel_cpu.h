/* A microkernel multiplies two packed panels into one tile of the result. There is one for each
 * instruction set, in a file of its own; which of them run here is asked of the processor.
 *
 * A panel holds `rows` (or `columns`) lines of op(a) (or op(b) transposed) along k, `depth` numbers of a
 * line together: number k of line r is at (k / depth * lines + r) * depth + k % depth. AMX's panels of b have
 * another order within their depth, and those of numbers in `parts` have an order of their own, which only their packers
 * and multiply know. */
#ifndef OPS_GEMM_CPU_MICROKERNEL_CPU_H
#define OPS_GEMM_CPU_MICROKERNEL_CPU_H

#include "ops/gemm_cpu/pack_cpu.h"

enum { MICROKERNEL_GRAIN = 96 };

/* Where sums go on from, and where they go. */
typedef struct MicrokernelTile {
    const float *from; /* NULL: from zero */
    int64_t ld_from;   /* from row to row */
    float *to;         /* may be `from` */
    int64_t ld_to;
} MicrokernelTile;

typedef struct Microkernel {
    const char *name;
    const char *needs;        /* words of cpu_features.h; NULL: runs everywhere */
    DType operand;            /* what is multiplied; panels hold it, or `parts` of it */
    int rows, columns, depth; /* rows and columns divide MICROKERNEL_GRAIN */
    PackPanel *pack_a, *pack_b;
    /* The tile [rows, columns] over `groups` >= 1 groups of `depth`. Sums go on in the order of k: cutting k
     * into pieces changes no bit. */
    void (*multiply)(int64_t groups, const void *a, const void *b, const MicrokernelTile *tile);
    int piece; /* bytes of a line along k at a time: a panel of b stays in the first-level cache */
    int strip; /* lines of a strip, as gemm_cpu.c has them: 1 or 2 grains; 0: none */
    int block; /* rows of a block, where strip is 0: their panels stay in the second-level cache */
    int parts; /* numbers of bf16 that one of `operand` is in a panel; 0: it is itself there */
    /* Multiplies what packing finds beyond this one, as gemm_cpu.c has it (PackSource); NULL: nothing is. */
    const struct Microkernel *instead;
} Microkernel;

extern const Microkernel microkernel_plain;

/* This architecture's, best first, ended by NULL: microkernel_cpu_ARCHITECTURE.c. */
extern const Microkernel *const microkernel_list[];

typedef struct MicrokernelNames {
    char s[64];
} MicrokernelNames;

/* Those that run here: "bfmmla neon plain". */
MicrokernelNames microkernel_names(void);

/* The best one that runs here for `operand`; NULL when none does. DT_F32 always has one. */
const Microkernel *microkernel_find(DType operand);

#endif
