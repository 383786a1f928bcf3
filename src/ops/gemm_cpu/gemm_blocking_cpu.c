#include "ops/gemm_cpu/gemm_parts_cpu.h"

enum {
    /* Shared lines of a block whose private side has the kernel's own width: their sums take 400 KiB
     * of the second-level cache, or 800 KiB where it has 2 MiB. */
    SUMS = 1024,
    NARROW_TURNS = 2,  /* narrow blocks for each thread at the end, where one side is private */
    KC_UNIT = 16,      /* numbers: four lines of a micro-panel, or more, fill cache lines */
    LONGEST_SUM = 4096 /* numbers of k that are added one after the other */
};

static int64_t number_bytes(const Microkernel *kernel)
{
    return kernel->splits ? kernel->splits * (int64_t)plan_dtype_size(DT_BF16)
                          : (int64_t)plan_dtype_size(kernel->operand);
}

int64_t gemm_blocking_longest_pass(const Microkernel *kernel)
{
    return kernel->kc_bytes / number_bytes(kernel);
}

/* Passes over k as long as each other, as far as groups of KR go, and whole cache lines of every
 * micro-panel. */
static void block_k(const GemmPlan *p, GemmBlocking *b)
{
    const Microkernel *kernel = p->kernel;
    b->number_bytes = number_bytes(kernel);
    b->k = i64_round_up(p->k, kernel->kr);
    const int64_t passes = i64_ceil_div(b->k, gemm_blocking_longest_pass(kernel));
    b->kc = i64_round_up(i64_ceil_div(b->k, passes), i64_max(kernel->kr, KC_UNIT));
    b->partial_k = b->kc < LONGEST_SUM ? LONGEST_SUM / b->kc * b->kc : b->kc;
}

/* ---- the time of a blocking ---- */

/* The unit of time is a multiplication of two lines. Costs are fitted to one core of a Xeon by its
 * own clock and to 16 threads on eight such cores, GEMMs of small and medium blocked in 18 and 38
 * ways. Kernels of 16 bit multiply faster, so that all else costs more of those. */
typedef struct Costs {
    int64_t pack_private; /* a line: it stays in the second-level cache */
    int64_t pack_shared;  /* a line, which several threads read */
    int64_t
        read_row; /* a shared one, by one block: from there on every tile of the block reads it */
    int64_t read_column;
} Costs;

/* Shared panels that `readers` threads read are written over lines that the caches of others still
 * hold, which costs more for each of them. Kernels without private panels have no choice there, and
 * their costs are of one core. */
static Costs costs_of(const GemmPlan *p, int64_t readers)
{
    const bool fp32 = p->kernel->operand == DT_F32;
    const int64_t others = readers - 1;
    if (!p->kernel->private_lines) return fp32 ? (Costs){20, 40, 1, 1} : (Costs){60, 200, 14, 2};
    if (p->kernel->splits) return (Costs){80, 250 + 100 * others, 14, 9};
    return fp32 ? (Costs){20, 40 + 14 * others, 4, 1} : (Costs){60, 200 + 42 * others, 13, 8};
}

/* Threads end within the time of their last block of each other: the largest of t random fractions
 * of it is t / (t + 1), as a rule, and the mean is half. */
static int64_t late_by(int64_t block, int threads)
{
    return block * (threads - 1) / (2 * (threads + 1));
}

/* When the slowest thread ends. Where blocks are few, some threads have one more than others. */
static int64_t time_of(int64_t blocks, int64_t all, int64_t shared_packing, int threads)
{
    if (threads == 1) return all + shared_packing;
    const int64_t each = all / blocks;
    const int64_t fair = all / threads + late_by(each, threads);
    return i64_max(fair, i64_ceil_div(blocks, threads) * each) +
           i64_ceil_div(shared_packing, threads);
}

/* When the slowest thread ends, given the times of a wide and of a narrow block. */
static int64_t time_of_tapered(int64_t all, int64_t wide, int64_t narrow, int turns, int threads)
{
    if (threads == 1) return all;
    const int64_t late = late_by(i64_max(narrow, wide - turns * narrow), threads);
    return i64_max(all / threads + late, wide);
}

/* ---- candidates ---- */

/* How many blocks of about `size` lines, each whole micro-panels. */
static int64_t blocks_of(int64_t lines, int64_t size, int64_t panel)
{
    return i64_ceil_div(lines, i64_round_up(size, panel));
}

/* The largest of n blocks of whole micro-panels, the last `narrow` of which are of one. */
static int64_t largest_block(int64_t lines, int64_t n, int64_t panel, int64_t narrow)
{
    const int64_t panels = i64_ceil_div(lines, panel) - narrow;
    return (n > narrow ? i64_ceil_div(panels, n - narrow) : 1) * panel;
}

static GemmBlocking blocking_of(const GemmPlan *p, PrivatePanels private_panels, int64_t m_blocks,
                                int64_t n_blocks, int64_t narrow)
{
    const int64_t narrow_rows = private_panels == PRIVATE_A ? narrow : 0;
    return (GemmBlocking){.private_panels = private_panels,
                          .m_blocks = m_blocks,
                          .n_blocks = n_blocks,
                          .mc = largest_block(p->m, m_blocks, p->kernel->mr, narrow_rows),
                          .nc = largest_block(p->n, n_blocks, p->kernel->nr, narrow - narrow_rows),
                          .narrow = narrow};
}

/* Coarse candidates come first: a finer one has to be worth it. */
static GemmBlocking better(GemmBlocking so_far, GemmBlocking finer)
{
    return finer.cost < so_far.cost - so_far.cost / 50 ? finer : so_far;
}

static GemmBlocking none_private(const GemmPlan *p, int threads)
{
    const int sizes[][2] = {{p->kernel->mc ? p->kernel->mc : 192, 192},
                            {96, 192},
                            {96, 96},
                            {48, 96},
                            {48, 64},
                            {48, 32}};
    const Costs cost = costs_of(p, threads);
    GemmBlocking best = {.cost = INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        GemmBlocking b = blocking_of(p, PRIVATE_NONE, blocks_of(p->m, sizes[i][0], p->kernel->mr),
                                     blocks_of(p->n, sizes[i][1], p->kernel->nr), 0);
        const int64_t read =
            cost.read_row * b.n_blocks * p->m + cost.read_column * b.m_blocks * p->n;
        b.cost = time_of(b.m_blocks * b.n_blocks, p->m * p->n + read,
                         cost.pack_shared * (p->m + p->n), threads);
        best = better(best, b);
    }
    return best;
}

/* How many of `panels` are blocks of their own, beside wide ones: `turns` blocks for each thread,
 * during which those who are late with a wide one catch up, and what fills no wide one. It may be
 * all. */
static int64_t narrow_blocks(int64_t panels, int64_t width, int64_t others, int turns, int threads)
{
    if (threads == 1 || turns == 0) return 0;
    const int64_t last = i64_min(i64_ceil_div(turns * threads, others), panels / 3);
    return panels - (panels - last) / width * width;
}

static int64_t queues_for(int64_t shared_blocks)
{
    return shared_blocks > GEMM_MOST_QUEUES ? 1 : shared_blocks;
}

/* Private blocks of `lines` of the longer side. The shared side has as many blocks as leave room
 * for the sums, or `times` that: for each of them the private lines are packed anew. */
static GemmBlocking one_private(const GemmPlan *p, int lines, int times, int threads)
{
    const Microkernel *kernel = p->kernel;
    const bool of_a = p->m >= p->n;
    const int64_t all_lines = of_a ? p->m : p->n, others = of_a ? p->n : p->m;
    const int64_t panel = of_a ? kernel->mr : kernel->nr;
    const int64_t panels = i64_ceil_div(all_lines, panel), width = i64_ceil_div(lines, panel);
    const int64_t shared_blocks =
        i64_min(i64_ceil_div(others, SUMS * kernel->private_lines / lines) * times,
                i64_ceil_div(others, of_a ? kernel->nr : kernel->mr));
    const Costs cost = costs_of(p, i64_ceil_div(threads, queues_for(shared_blocks)));
    const int64_t narrow = narrow_blocks(panels, width, shared_blocks, NARROW_TURNS, threads);
    const int64_t blocks = i64_ceil_div(panels - narrow, width) + narrow;
    GemmBlocking b = of_a ? blocking_of(p, PRIVATE_A, blocks, shared_blocks, narrow)
                          : blocking_of(p, PRIVATE_B, shared_blocks, blocks, narrow);
    const int64_t read = (of_a ? cost.read_column : cost.read_row) * blocks * others;
    const int64_t all = all_lines * others + cost.pack_private * all_lines * shared_blocks + read;
    const int64_t packing = cost.pack_shared * others, each = all / (panels * shared_blocks);
    b.cost = narrow == panels ? time_of(panels * shared_blocks, all, packing, threads)
                              : time_of_tapered(all, each * width, each, NARROW_TURNS, threads) +
                                    i64_ceil_div(packing, threads);
    return b;
}

/* Private blocks of the kernel's own width, then narrower ones, then more shared blocks. Wide ones
 * save reading rows; where a is private, columns are read, and they save nothing. */
static GemmBlocking best_one_private(const GemmPlan *p, int threads)
{
    const int widest = p->m >= p->n ? MICROKERNEL_UNIT : p->kernel->private_lines;
    const int sizes[][2] = {{widest, 1}, {96, 1}, {64, 1}, {64, 2}, {64, 4}};
    GemmBlocking best = {.cost = INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        best = better(best, one_private(p, sizes[i][0], sizes[i][1], threads));
    }
    return best;
}

/* Each line is packed as often as there are blocks beside each other. */
static GemmBlocking both_private(const GemmPlan *p, const int size[2], int turns, int threads)
{
    const Microkernel *kernel = p->kernel;
    const int64_t pack = costs_of(p, threads).pack_private;
    const int64_t m_blocks = blocks_of(p->m, size[0], kernel->mr);
    const int64_t panels = i64_ceil_div(p->n, kernel->nr),
                  width = i64_ceil_div(size[1], kernel->nr);
    const int64_t narrow = narrow_blocks(panels, width, m_blocks, turns, threads);
    GemmBlocking b = blocking_of(p, PRIVATE_BOTH, m_blocks,
                                 i64_ceil_div(panels - narrow, width) + narrow, narrow);
    const int64_t all = p->m * p->n + pack * (b.n_blocks * p->m + m_blocks * p->n);
    if (narrow == 0 || narrow == panels) {
        b.cost = time_of(m_blocks * b.n_blocks, all, 0, threads);
    } else {
        b.cost = time_of_tapered(all, b.mc * b.nc + pack * (b.mc + b.nc),
                                 b.mc * kernel->nr + pack * (b.mc + kernel->nr), turns, threads);
    }
    return b;
}

static GemmBlocking best_both_private(const GemmPlan *p, int threads)
{
    static const int sizes[][2] = {{256, 192}, {192, 192}, {128, 192}, {256, 96}, {192, 96},
                                   {128, 160}, {128, 128}, {96, 192},  {128, 96}, {96, 96}};
    GemmBlocking best = {.cost = INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        best = better(best, both_private(p, sizes[i], 0, threads));
        best = better(best, both_private(p, sizes[i], 1, threads));
    }
    return best;
}

/* Private panels are packed block by block: where the last one finds that the fallback must compute
 * all again, what blocks before have added to c would stay there. */
static bool may_be_private(const GemmPlan *p)
{
    return p->kernel->private_lines && !(p->accumulate && p->kernel->fallback);
}

GemmBlocking gemm_blocking(const GemmPlan *p, int threads)
{
    GemmBlocking best;
    if (may_be_private(p)) {
        const GemmBlocking both = best_both_private(p, threads);
        best = best_one_private(p, threads);
        if (both.cost < best.cost) best = both;
    } else {
        best = none_private(p, threads);
    }
    block_k(p, &best);
    return best;
}

/* ---- blocks ---- */

/* Where block i of n begins: the last `narrow` are one micro-panel each, the others as long as each
 * other, but for one. */
static int64_t block_start(int64_t lines, int64_t panel, int64_t i, int64_t n, int64_t narrow)
{
    const int64_t panels = i64_ceil_div(lines, panel), wide = n - narrow;
    const int64_t before = i < wide ? (panels - narrow) * i / wide : panels - (n - i);
    return i64_min(before * panel, lines);
}

GemmBlock gemm_blocking_block(const GemmPlan *p, const GemmBlocking *b, int64_t i)
{
    const bool of_a = b->private_panels == PRIVATE_A;
    const int mr = p->kernel->mr, nr = p->kernel->nr;
    const int64_t narrow_rows = of_a ? b->narrow : 0, narrow_columns = b->narrow - narrow_rows;
    const int64_t y = of_a ? i / b->n_blocks : i % b->m_blocks;
    const int64_t x = of_a ? i % b->n_blocks : i / b->m_blocks;
    const int64_t row = block_start(p->m, mr, y, b->m_blocks, narrow_rows);
    const int64_t column = block_start(p->n, nr, x, b->n_blocks, narrow_columns);
    return (GemmBlock){row, block_start(p->m, mr, y + 1, b->m_blocks, narrow_rows) - row, column,
                       block_start(p->n, nr, x + 1, b->n_blocks, narrow_columns) - column};
}

GemmQueues gemm_blocking_queues(const GemmBlocking *b)
{
    const int64_t n = b->private_panels == PRIVATE_A   ? queues_for(b->n_blocks)
                      : b->private_panels == PRIVATE_B ? queues_for(b->m_blocks)
                                                       : 1;
    return (GemmQueues){.n = n, .each = b->m_blocks * b->n_blocks / n};
}

int64_t gemm_blocking_next(GemmQueues *queues, int64_t thread, int64_t *turn)
{
    for (; *turn < queues->n; ++*turn) {
        const int64_t queue = (thread + *turn) % queues->n;
        const int64_t i = __atomic_fetch_add(&queues->next[queue], 1, __ATOMIC_RELAXED);
        if (i < queues->each) return queue + i * queues->n;
    }
    return -1;
}
