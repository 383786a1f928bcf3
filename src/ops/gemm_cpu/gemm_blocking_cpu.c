#include "ops/gemm_cpu/gemm_blocking_cpu.h"

/* Lines that a strip of the kernel's own width is multiplied with at a time: their sums have 400 KiB of the second-level
 * cache, or 800 KiB where it has 2 MiB. */
enum { SUMS = 1024 };

/* Narrow strips of each thread, at the end. */
enum { TURNS_OF_STRIPS = 2 };

/* Times are in products of two lines: fitted to those of one core of a Xeon by its own clock and of 16 threads on eight
 * such cores, products of small and medium cut in 18 and 38 ways. Kernels of 16 bit multiply faster, so that all else costs
 * more of those. */
typedef struct Costs {
    int64_t pack;   /* a line, into a strip: it stays in the second-level cache */
    int64_t before; /* a line, into panels that several threads read */
    int64_t
        read_row; /* one of those, by one block: from there on every tile of the block reads it */
    int64_t read_column;
} Costs;

/* What `readers` threads read is written over lines that the caches of others still hold, which costs more for each of them.
 * Kernels without strips have no choice there, and theirs are of one core. */
static Costs costs_of(const GemmPlan *p, int64_t readers)
{
    const bool fp32 = p->kernel->operand == DT_F32;
    const int64_t others = readers - 1;
    if (!p->kernel->strip) return fp32 ? (Costs){20, 40, 1, 1} : (Costs){60, 200, 14, 2};
    if (p->kernel->parts) return (Costs){80, 250 + 100 * others, 14, 9};
    return fp32 ? (Costs){20, 40 + 14 * others, 4, 1} : (Costs){60, 200 + 42 * others, 13, 8};
}

/* Of `parts` of what is packed beforehand. */
static int64_t queues_of(int64_t parts)
{
    return parts > PACKED_MOST_QUEUES ? 1 : parts;
}

/* Threads end within the time of their last block of each other: of t random parts of it the largest is t / (t + 1), as a
 * rule, and the mean is half. */
static int64_t late_by(int64_t block, int threads)
{
    return block * (threads - 1) / (2 * (threads + 1));
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When the slowest thread ends. Where blocks are few, some threads have one more than others. */
static int64_t time_of(int64_t blocks, int64_t all, int64_t before, int threads)
{
    if (threads == 1) return all + before;
    const int64_t each = all / blocks;
    const int64_t shared = all / threads + late_by(each, threads);
    return larger(shared, gemm_pieces(blocks, threads) * each) + gemm_pieces(before, threads);
}

/* How many parts of about `size` lines, each whole tiles of `grain`. */
static int64_t parts_of(int64_t lines, int64_t size, int64_t grain)
{
    return gemm_pieces(lines, gemm_round_up(size, grain));
}

/* The largest of `n` parts of `lines` that begin at multiples of `grain`; the last `narrow` are of one. */
static int64_t largest_part(int64_t lines, int64_t n, int64_t grain, int64_t narrow)
{
    const int64_t tiles = gemm_pieces(lines, grain) - narrow;
    return (n > narrow ? gemm_pieces(tiles, n - narrow) : 1) * grain;
}

static Cut cut_into(const GemmPlan *p, Strips strips, int64_t down, int64_t across, int64_t narrow)
{
    const Microkernel *kernel = p->kernel;
    const int64_t rows = strips == STRIPS_OF_A ? narrow : 0;
    return (Cut){.strips = strips,
                 .down = down,
                 .across = across,
                 .row = kernel->rows,
                 .column = kernel->columns,
                 .rows = largest_part(p->m, down, kernel->rows, rows),
                 .columns = largest_part(p->n, across, kernel->columns, narrow - rows),
                 .narrow = narrow};
}

/* Coarse cuts come first: a finer one has to be worth it. */
static Cut better(Cut so_far, Cut finer)
{
    return finer.cost < so_far.cost - so_far.cost / 50 ? finer : so_far;
}

static Cut cut_blocks(const GemmPlan *p, int threads)
{
    const int sizes[][2] = {
        {p->kernel->block, 192}, {96, 192}, {96, 96}, {48, 96}, {48, 64}, {48, 32}};
    const Costs cost = costs_of(p, threads);
    Cut best = {.cost = INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Cut cut = cut_into(p, STRIPS_NONE, parts_of(p->m, sizes[i][0], p->kernel->rows),
                           parts_of(p->n, sizes[i][1], p->kernel->columns), 0);
        const int64_t read = cost.read_row * cut.across * p->m + cost.read_column * cut.down * p->n;
        cut.cost = time_of(cut.down * cut.across, p->m * p->n + read, cost.before * (p->m + p->n),
                           threads);
        best = better(best, cut);
    }
    return best;
}

/* How many of `tiles` are strips of their own, beside wide ones: `turns` blocks for each thread, during which those who are
 * late with a wide one catch up, and what fills no wide one. It may be all. */
static int64_t narrow_strips(int64_t tiles, int64_t width, int64_t parts, int turns, int threads)
{
    if (threads == 1 || turns == 0) return 0;
    const int64_t last = gemm_smaller(gemm_pieces(turns * threads, parts), tiles / 3);
    return tiles - (tiles - last) / width * width;
}

/* When the slowest thread ends, given what one block of each kind takes. */
static int64_t time_of_tapered(int64_t all, int64_t wide, int64_t narrow, int turns, int threads)
{
    if (threads == 1) return all;
    const int64_t late = late_by(larger(narrow, wide - turns * narrow), threads);
    return larger(all / threads + late, wide);
}

/* Strips of `lines` of the longer side, times as many parts of what they are multiplied with as have room for their sums, or
 * `times` that: for each part a strip is packed anew. */
static Cut strips_of(const GemmPlan *p, int lines, int times, int threads)
{
    const Microkernel *kernel = p->kernel;
    const bool of_a = p->m >= p->n;
    const int64_t all_lines = of_a ? p->m : p->n, others = of_a ? p->n : p->m;
    const int64_t grain = of_a ? kernel->rows : kernel->columns;
    const int64_t tiles = gemm_pieces(all_lines, grain), width = gemm_pieces(lines, grain);
    const int64_t parts = gemm_smaller(gemm_pieces(others, SUMS * kernel->strip / lines) * times,
                                       gemm_pieces(others, of_a ? kernel->columns : kernel->rows));
    const Costs cost = costs_of(p, gemm_pieces(threads, queues_of(parts)));
    const int64_t narrow = narrow_strips(tiles, width, parts, TURNS_OF_STRIPS, threads);
    const int64_t strips = gemm_pieces(tiles - narrow, width) + narrow;
    Cut cut = of_a ? cut_into(p, STRIPS_OF_A, strips, parts, narrow)
                   : cut_into(p, STRIPS_OF_B, parts, strips, narrow);
    const int64_t read = (of_a ? cost.read_column : cost.read_row) * strips * others;
    const int64_t all = all_lines * others + cost.pack * all_lines * parts + read;
    const int64_t before = cost.before * others, each = all / (tiles * parts);
    cut.cost = narrow == tiles
                   ? time_of(tiles * parts, all, before, threads)
                   : time_of_tapered(all, each * width, each, TURNS_OF_STRIPS, threads) +
                         gemm_pieces(before, threads);
    return cut;
}

/* Strips as wide as the kernel likes them, then narrower ones, then more parts. Wide ones spare reading rows; those of a,
 * beside which columns are read, gain nothing. */
static Cut cut_strips(const GemmPlan *p, int threads)
{
    const int widest = p->m >= p->n ? MICROKERNEL_GRAIN : p->kernel->strip;
    const int sizes[][2] = {{widest, 1}, {96, 1}, {64, 1}, {64, 2}, {64, 4}};
    Cut best = {.cost = INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        best = better(best, strips_of(p, sizes[i][0], sizes[i][1], threads));
    }
    return best;
}

/* Both sides of a block are packed by the thread that multiplies it: each line as often as there are blocks beside each
 * other. */
static Cut both_of(const GemmPlan *p, const int size[2], int turns, int threads)
{
    const Microkernel *kernel = p->kernel;
    const int64_t pack = costs_of(p, threads).pack, down = parts_of(p->m, size[0], kernel->rows);
    const int64_t tiles = gemm_pieces(p->n, kernel->columns);
    const int64_t width = gemm_pieces(size[1], kernel->columns);
    const int64_t narrow = narrow_strips(tiles, width, down, turns, threads);
    Cut cut =
        cut_into(p, STRIPS_OF_BOTH, down, gemm_pieces(tiles - narrow, width) + narrow, narrow);
    const int64_t all = p->m * p->n + pack * (cut.across * p->m + down * p->n);
    if (narrow == 0 || narrow == tiles) {
        cut.cost = time_of(down * cut.across, all, 0, threads);
        return cut;
    }
    const int64_t rows = cut.rows, columns = cut.columns, column = cut.column;
    cut.cost = time_of_tapered(all, rows * columns + pack * (rows + columns),
                               rows * column + pack * (rows + column), turns, threads);
    return cut;
}

static Cut cut_both(const GemmPlan *p, int threads)
{
    static const int sizes[][2] = {{256, 192}, {192, 192}, {128, 192}, {256, 96}, {192, 96},
                                   {128, 160}, {128, 128}, {96, 192},  {128, 96}, {96, 96}};
    Cut best = {.cost = INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        best = better(best, both_of(p, sizes[i], 0, threads));
        best = better(best, both_of(p, sizes[i], 1, threads));
    }
    return best;
}

Cut gemm_blocking(const GemmPlan *p, int threads)
{
    if (!p->kernel->strip) return cut_blocks(p, threads);
    const Cut strips = cut_strips(p, threads), both = cut_both(p, threads);
    return both.cost < strips.cost ? both : strips;
}

/* Where part i of n begins: the last `narrow` are of one tile each, the others as long as each other, but for a tile. */
static int64_t part_start(int64_t lines, int64_t tile, int64_t i, int64_t n, int64_t narrow)
{
    const int64_t tiles = gemm_pieces(lines, tile), wide = n - narrow;
    const int64_t before = i < wide ? (tiles - narrow) * i / wide : tiles - (n - i);
    return gemm_smaller(before * tile, lines);
}

Place gemm_blocking_place(const GemmPlan *p, const Cut *cut, int64_t i)
{
    const bool of_a = cut->strips == STRIPS_OF_A;
    const int64_t narrow_rows = of_a ? cut->narrow : 0, narrow_columns = cut->narrow - narrow_rows;
    const int64_t y = of_a ? i / cut->across : i % cut->down;
    const int64_t x = of_a ? i % cut->across : i / cut->down;
    const int64_t row = part_start(p->m, cut->row, y, cut->down, narrow_rows);
    const int64_t column = part_start(p->n, cut->column, x, cut->across, narrow_columns);
    return (Place){.row = row,
                   .rows = part_start(p->m, cut->row, y + 1, cut->down, narrow_rows) - row,
                   .column = column,
                   .columns =
                       part_start(p->n, cut->column, x + 1, cut->across, narrow_columns) - column};
}

CutQueues gemm_blocking_queues(const Cut *cut)
{
    const int64_t n = cut->strips == STRIPS_OF_A   ? queues_of(cut->across)
                      : cut->strips == STRIPS_OF_B ? queues_of(cut->down)
                                                   : 1;
    return (CutQueues){.n = n, .each = cut->down * cut->across / n};
}

int64_t gemm_blocking_next(CutQueues *queues, int64_t thread, int64_t *turn)
{
    for (; *turn < queues->n; ++*turn) {
        const int64_t queue = (thread + *turn) % queues->n;
        const int64_t i = __atomic_fetch_add(&queues->next[queue], 1, __ATOMIC_RELAXED);
        if (i < queues->each) return queue + i * queues->n;
    }
    return -1;
}
