#include "ops/packed_cut_cpu.h"

enum {
    ROWS = MICROKERNEL_GRAIN, /* of a block; more share out less evenly */
    COLUMNS = 2 * MICROKERNEL_GRAIN,
    BESIDE = 8 * MICROKERNEL_GRAIN /* lines a strip is multiplied with at a time */
};

/* Times are in products of two lines; one core of a Xeon, products of small. Kernels of 16 bit multiply faster, so
 * that all else costs more of those. */
static int64_t packing(const PackedProduct *p, int64_t lines)
{
    return lines * (p->kernel->operand == DT_F32 ? 20 : 60);
}

/* With panels that come from the last-level cache. */
static int64_t from_afar(const PackedProduct *p, int64_t products)
{
    return products + products / (p->kernel->operand == DT_F32 ? 20 : 4);
}

/* What the slowest thread does: `each` for a block, and half a block's time until the others have ended, too; its
 * share of what is done beforehand. */
static int64_t cost_of(int64_t blocks, int64_t each, int64_t before, int threads)
{
    const int64_t halves = 2 * packed_pieces(blocks, threads) + (threads > 1);
    return halves * each / 2 + packed_pieces(before, threads);
}

static Cut blocks_of(const PackedProduct *p, int64_t columns, int threads)
{
    const int64_t down = packed_pieces(p->m, ROWS), across = packed_pieces(p->n, columns);
    const int64_t each = packed_pieces(p->m, down) * packed_pieces(p->n, across);
    const int64_t before = packing(p, p->m + p->n);
    return (Cut){.strips = STRIPS_NONE,
                 .down = down,
                 .across = across,
                 .row = ROWS,
                 .column = columns,
                 .rows = ROWS,
                 .columns = COLUMNS,
                 .cost = cost_of(down * across, from_afar(p, each), before, threads)};
}

/* Wide ones read less; where there would be too few to share out, or the last turn would leave many threads
 * without work, narrow ones. */
static Cut cut_blocks(const PackedProduct *p, int threads)
{
    const Cut wide = blocks_of(p, COLUMNS, threads);
    const Cut narrow = blocks_of(p, MICROKERNEL_GRAIN, threads);
    const int64_t turns = packed_pieces(wide.down * wide.across, threads);
    const int64_t short_turns = packed_pieces(narrow.down * narrow.across, threads);
    const bool even = 16 * turns * COLUMNS <= 17 * short_turns * MICROKERNEL_GRAIN;
    Cut cut = threads == 1 || (turns >= PACKED_SHARE && even) ? wide : narrow;
    /* All of a size as far as tiles go, where threads get a few each: many even out by themselves, and
     * whole blocks are 1 % faster. */
    if (threads > 1 && cut.down * cut.across <= 2 * PACKED_SHARE * threads) {
        cut.row = p->kernel->rows;
        cut.column = p->kernel->columns;
    }
    return cut;
}

/* Narrower strips where threads would end far apart, then parts of the other side: for each of those a strip
 * is packed anew. */
static Cut cut_strips(const PackedProduct *p, int threads)
{
    const int64_t wide = p->kernel->strip, narrow = MICROKERNEL_GRAIN;
    const int64_t sizes[][2] = {{wide, BESIDE},
                                {narrow, BESIDE},
                                {narrow, BESIDE / 2},
                                {narrow, BESIDE / 4},
                                {narrow, BESIDE / 8}};
    const bool of_a = p->m >= p->n;
    const int64_t lines = of_a ? p->m : p->n, others = of_a ? p->n : p->m;
    Cut best = {.strips = of_a ? STRIPS_OF_A : STRIPS_OF_B,
                .row = p->kernel->rows,
                .column = p->kernel->columns,
                .rows = of_a ? wide : BESIDE,
                .columns = of_a ? BESIDE : wide,
                .cost = INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t strips = packed_pieces(lines, sizes[i][0]);
        const int64_t parts = packed_pieces(others, sizes[i][1]);
        const int64_t each =
            packed_pieces(lines, strips) * (packed_pieces(others, parts) + packing(p, 1));
        const int64_t cost = cost_of(strips * parts, each, packing(p, others), threads);
        if (cost >= best.cost) continue;
        best.cost = cost;
        best.down = of_a ? strips : parts;
        best.across = of_a ? parts : strips;
    }
    return best;
}

/* Few threads take strips; many would pack the same ones again and again, or wait for each other. */
Cut packed_cut(const PackedProduct *p, int threads)
{
    Cut cut = cut_blocks(p, threads);
    if (p->kernel->strip) {
        const Cut strips = cut_strips(p, threads);
        if (strips.cost < cut.cost) cut = strips;
    }
    cut.rows = packed_smaller(cut.rows, packed_round_up(p->m, p->kernel->rows));
    cut.columns = packed_smaller(cut.columns, packed_round_up(p->n, p->kernel->columns));
    return cut;
}
