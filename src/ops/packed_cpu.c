#include "ops/packed_cpu.h"

/* A block of the result (its floats in the thread's workspace) and the panels it reads along a piece of k
 * fit a second-level cache of 1 MiB twice; the panel of b stays in the first level. Twice as many rows are as
 * fast on one core and share out less evenly. */
enum {
    ROWS = MICROKERNEL_GRAIN, /* of a block */
    COLUMNS = 2 * MICROKERNEL_GRAIN,
    SHARE = 4,      /* blocks a thread should get, so that the last ones end together */
    K_BYTES = 1536, /* of a line along a piece of k */
    PACK_LINES =
        MICROKERNEL_GRAIN, /* packed at a time: whole cache lines where lines lie together */
    PACK_K = 128,
    ALIGN = 64
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t pieces(int64_t length, int64_t piece)
{
    return (length + piece - 1) / piece;
}

static int64_t round_up(int64_t length, int64_t to)
{
    return pieces(length, to) * to;
}

/* ---- the workspace: panels of a, panels of b, a block of floats for each thread ---- */

typedef struct Room {
    int64_t b, blocks, bytes; /* from its start; the panels of a are first */
} Room;

static int64_t padded_k(const PackedProduct *p)
{
    return round_up(p->k, p->kernel->depth);
}

static int64_t panel_bytes(const PackedProduct *p, int64_t lines)
{
    return round_up(lines * padded_k(p) * (int64_t)plan_dtype_size(p->kernel->operand), ALIGN);
}

static Room room(const PackedProduct *p, int threads)
{
    const int64_t a = panel_bytes(p, round_up(p->m, p->kernel->rows));
    const int64_t b = panel_bytes(p, round_up(p->n, p->kernel->columns));
    const int64_t blocks = (int64_t)threads * ROWS * COLUMNS * (int64_t)sizeof(float);
    return (Room){a, a + b, a + b + blocks};
}

size_t packed_workspace(const PackedProduct *p, int threads)
{
    return (size_t)room(p, threads).bytes;
}

/* ---- packing ---- */

typedef struct Side {
    const PackSource *source;
    PackPanel *pack;
    char *panels;
    int64_t lines;
    int panel; /* lines of one */
} Side;

/* A piece of k of all panels, then the next piece: what a block reads at a time lies together, whatever
 * k is. */
static char *panel_at(const PackedProduct *p, const Side *s, int64_t line, int64_t k)
{
    const int64_t size = (int64_t)plan_dtype_size(p->kernel->operand), length = K_BYTES / size;
    const int64_t piece = k / length * length, here = smaller(length, padded_k(p) - piece);
    return s->panels +
           (piece * round_up(s->lines, s->panel) + line * here + (k - piece) * s->panel) * size;
}

/* Lines [first, first + lines) of all k, a little of k at a time: where lines lie together in memory, what
 * one panel leaves in the cache is what the next one needs. */
static void pack_lines(const PackedProduct *p, const Side *s, int64_t first, int64_t lines)
{
    for (int64_t k = 0; k < p->k; k += PACK_K) {
        for (int64_t i = first; i < first + lines; i += s->panel) {
            s->pack(panel_at(p, s, i, k), s->source, i, smaller(s->panel, s->lines - i), k,
                    smaller(PACK_K, p->k - k));
        }
    }
}

static void pack_part(const PackedProduct *p, const Side *s, int64_t part)
{
    const int64_t first = part * PACK_LINES;
    pack_lines(p, s, first, smaller(PACK_LINES, s->lines - first));
}

/* ---- blocks ---- */

typedef struct Blocks {
    int64_t columns, down, across; /* of one, and how many */
} Blocks;

/* Wide ones read less; where there would be too few to share out, narrow ones. */
static Blocks cut(const PackedProduct *p, int threads)
{
    const int64_t down = pieces(p->m, ROWS), across = pieces(p->n, COLUMNS);
    if (down * across >= SHARE * threads || threads == 1) return (Blocks){COLUMNS, down, across};
    return (Blocks){MICROKERNEL_GRAIN, down, pieces(p->n, MICROKERNEL_GRAIN)};
}

typedef struct Block {
    int64_t row, rows, column, columns;
    float *sum; /* whole tiles, rows COLUMNS apart */
} Block;

/* The sums go on over k numbers from `first` on. */
static void add_piece(const PackedProduct *p, const Side *a, const Side *b, const Block *block,
                      int64_t first, int64_t k)
{
    const Microkernel *kernel = p->kernel;
    const int64_t line = k * (int64_t)plan_dtype_size(kernel->operand), groups = k / kernel->depth;
    const char *x = panel_at(p, a, block->row, first), *y = panel_at(p, b, block->column, first);
    for (int64_t j = 0; j < block->columns; j += kernel->columns) {
        for (int64_t i = 0; i < block->rows; i += kernel->rows) {
            kernel->multiply(groups, x + i * line, y + j * line, block->sum + i * COLUMNS + j,
                             COLUMNS, first > 0);
        }
    }
}

static void multiply_block(const PackedProduct *p, const Side *a, const Side *b, const Block *block)
{
    const int64_t all = padded_k(p);
    const int64_t piece = K_BYTES / (int64_t)plan_dtype_size(p->kernel->operand);
    for (int64_t k = 0; k < all; k += piece) add_piece(p, a, b, block, k, smaller(piece, all - k));
    for (int64_t i = 0; i < block->rows; i++) {
        const int64_t to = (block->row + i) * p->ldc + block->column;
        rows_cpu_store(rows_cpu_at(p->c, p->c_dtype, to), block->sum + i * COLUMNS, p->c_dtype,
                       block->columns);
    }
}

/* Down first: neighbours share their columns of b. */
static Block block_at(const PackedProduct *p, const Blocks *cuts, int64_t i, float *sum)
{
    const int64_t row = i % cuts->down * ROWS, column = i / cuts->down * cuts->columns;
    return (Block){row, smaller(ROWS, p->m - row), column, smaller(cuts->columns, p->n - column),
                   sum};
}

void packed_multiply(const PackedProduct *p, void *workspace, int threads)
{
    const Room r = room(p, threads);
    const Blocks cuts = cut(p, threads);
    char *panels = workspace;
    float *sums = (float *)(void *)(panels + r.blocks);
    const Side a = {&p->a, p->kernel->pack_a, panels, p->m, p->kernel->rows};
    const Side b = {&p->b, p->kernel->pack_b, panels + r.b, p->n, p->kernel->columns};
    const int64_t parts_a = pieces(p->m, PACK_LINES), parts_b = pieces(p->n, PACK_LINES);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < parts_a + parts_b; i++) {
            pack_part(p, i < parts_a ? &a : &b, i < parts_a ? i : i - parts_a);
        }
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < cuts.down * cuts.across; i++) {
            const Block block = block_at(p, &cuts, i, sums + omp_thread() * ROWS * COLUMNS);
            multiply_block(p, &a, &b, &block);
        }
    }
}
