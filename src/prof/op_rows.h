/* The rows of a profile: one row for the same op of every layer. */
#pragma once

#include "prof/memory_blocks.h"
#include "prof/part.h"
#include "prof/running_stats.h"

typedef struct OpRow {
    Phase phase;
    char scope[PLAN_SCOPE]; /* without the layer */
    OpKind op;
    const char *impl; /* the binding's */
    OpCategory category;
    Part part;
    const char *operands; /* of quantize: what the numbers are to products; NULL: another op */
    char by
        [64]; /* the code that runs it: "own neon", "flash, own neon"; on a GPU the implementation */
    const char *brief;   /* "matmul (own neon)"; the log's */
    const char *kernel;  /* a CPU's name of a kernel: "matmul (own neon): ffn/w13"; the log's */
    int nodes;           /* of one step */
    double flops, bytes; /* of one step */
    double allocated;    /* bytes of one step that its nodes are the first to write */
    char shape[96];      /* of the operands of its first node */
    RunningStats host;   /* seconds of each node: on a CPU its run, on a GPU its launches */
    RunningStats device; /* seconds of each node's kernels; empty on a CPU */
} OpRow;

typedef struct OpRows {
    OpRow *rows;
    int n;
    int *row; /* index of each node's row; -1 in the setup phase */
} OpRows;

/* Allocates; op_rows_free() frees. */
Status op_rows_make(OpRows *rows, const Binding *binding);
void op_rows_free(OpRows *rows);
/* Fills in `allocated`. */
void op_rows_memory(OpRows *rows, const MemoryBlocks *blocks);

/* "2048x1024 2048x3072": the shapes of a node's tensors, results first. */
void op_rows_shape(const Plan *plan, const Node *node, char *text, size_t size);
