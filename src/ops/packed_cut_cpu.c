#include "ops/packed_cut_cpu.h"

/* Lines that a strip of the kernel's own width is multiplied with at a time: their sums have 400 KiB of the second-level
 * cache, or 800 KiB where it has 2 MiB. */
enum { SUMS = 1024 };

/* Times are in products of two lines: fitted to those of one core of a Xeon by its own clock and of 16 threads on eight
 * such cores, products of small and medium cut in 18 ways. Kernels of 16 bit multiply faster, so that all else costs
 * more of those. */
typedef struct Costs {
    int64_t pack;   /* a line, into a strip: it stays in the second-level cache */
    int64_t before; /* a line, into panels that all threads read */
    int64_t
        read_row; /* one of those, by one block: from there on every tile of the block reads it */
    int64_t read_column;
} Costs;

/* What all read is written over lines that the caches of others still hold, which costs more for each of them. Kernels
 * without strips have no choice there. */
static Costs costs_of(const PackedProduct *p, int threads)
{
    const int64_t others = p->kernel->strip ? threads - 1 : 0;
    if (p->kernel->parts) return (Costs){80, 250 + 30 * others, 20, 2};
    if (p->kernel->operand == DT_F32) return (Costs){20, 40 + 12 * others, 1, 1};
    return (Costs){60, 200 + 22 * others, 14, 2};
}

/* When the slowest thread ends. Threads end within a block's time of each other, which makes the last one late by
 * the largest of so many random parts of a block less half of it; where blocks are few, some threads have one more than
 * others. */
static int64_t time_of(int64_t blocks, int64_t all, int64_t before, int threads)
{
    if (threads == 1) return all + before;
    const int64_t each = all / blocks;
    const int64_t late = each * (threads - 1) / (2 * (threads + 1));
    const int64_t shared = all / threads + late, turns = packed_pieces(blocks, threads) * each;
    return (shared > turns ? shared : turns) + packed_pieces(before, threads);
}

/* How many parts of about `size` lines, each whole tiles of `grain`. */
static int64_t parts_of(int64_t lines, int64_t size, int64_t grain)
{
    return packed_pieces(lines, packed_round_up(size, grain));
}

/* The largest of `n` parts of `lines` that begin at multiples of `grain`. */
static int64_t largest_part(int64_t lines, int64_t n, int64_t grain)
{
    return packed_pieces(packed_pieces(lines, grain), n) * grain;
}

static Cut cut_into(const PackedProduct *p, Strips strips, int64_t down, int64_t across)
{
    const Microkernel *kernel = p->kernel;
    return (Cut){.strips = strips,
                 .down = down,
                 .across = across,
                 .row = kernel->rows,
                 .column = kernel->columns,
                 .rows = largest_part(p->m, down, kernel->rows),
                 .columns = largest_part(p->n, across, kernel->columns)};
}

/* Coarse cuts come first: a finer one has to be worth it. */
static Cut better(Cut so_far, Cut finer)
{
    return finer.cost < so_far.cost - so_far.cost / 50 ? finer : so_far;
}

static Cut cut_blocks(const PackedProduct *p, int threads)
{
    static const int sizes[][2] = {{96, 192}, {96, 96}, {48, 96}, {48, 64}, {48, 32}};
    const Costs cost = costs_of(p, threads);
    Cut best = {.cost = INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Cut cut = cut_into(p, STRIPS_NONE, parts_of(p->m, sizes[i][0], p->kernel->rows),
                           parts_of(p->n, sizes[i][1], p->kernel->columns));
        const int64_t read = cost.read_row * cut.across * p->m + cost.read_column * cut.down * p->n;
        cut.cost = time_of(cut.down * cut.across, p->m * p->n + read, cost.before * (p->m + p->n),
                           threads);
        best = better(best, cut);
    }
    return best;
}

/* Strips as wide as the kernel likes them, then narrower ones, then these times parts of what they are multiplied with:
 * for each part a strip is packed anew. Wide ones spare reading rows; those of a, beside which columns are read, gain
 * nothing. */
static Cut cut_strips(const PackedProduct *p, int threads)
{
    const Microkernel *kernel = p->kernel;
    const Costs cost = costs_of(p, threads);
    const bool of_a = p->m >= p->n;
    const int64_t lines = of_a ? p->m : p->n, others = of_a ? p->n : p->m;
    const int64_t grain = of_a ? kernel->rows : kernel->columns;
    const int64_t tiles = packed_pieces(others, of_a ? kernel->columns : kernel->rows);
    const int sizes[][2] = {
        {of_a ? MICROKERNEL_GRAIN : kernel->strip, 1}, {96, 1}, {64, 1}, {64, 2}, {64, 4}};
    Cut best = {.cost = INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t strips = parts_of(lines, sizes[i][0], grain);
        const int64_t whole = packed_pieces(others, SUMS * kernel->strip / sizes[i][0]);
        const int64_t parts = packed_smaller(whole * sizes[i][1], tiles);
        Cut cut = cut_into(p, of_a ? STRIPS_OF_A : STRIPS_OF_B, of_a ? strips : parts,
                           of_a ? parts : strips);
        const int64_t read = (of_a ? cost.read_column : cost.read_row) * strips * others;
        const int64_t all = lines * others + cost.pack * lines * parts + read;
        cut.cost = time_of(strips * parts, all, cost.before * others, threads);
        best = better(best, cut);
    }
    return best;
}

/* Both sides of a block are packed by the thread that multiplies it: each line as often as there are blocks beside each
 * other. */
static Cut cut_both(const PackedProduct *p, int threads)
{
    static const int sizes[][2] = {{256, 192}, {192, 192}, {128, 192}, {256, 96},
                                   {192, 96},  {96, 192},  {128, 96},  {96, 96}};
    const Costs cost = costs_of(p, threads);
    Cut best = {.cost = INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Cut cut = cut_into(p, STRIPS_OF_BOTH, parts_of(p->m, sizes[i][0], p->kernel->rows),
                           parts_of(p->n, sizes[i][1], p->kernel->columns));
        const int64_t pack = cost.pack * (cut.across * p->m + cut.down * p->n);
        cut.cost = time_of(cut.down * cut.across, p->m * p->n + pack, 0, threads);
        best = better(best, cut);
    }
    return best;
}

Cut packed_cut(const PackedProduct *p, int threads)
{
    if (!p->kernel->strip) return cut_blocks(p, threads);
    const Cut strips = cut_strips(p, threads), both = cut_both(p, threads);
    return both.cost < strips.cost ? both : strips;
}
