#include "ops/packed_cpu.h"

/* A block of the result (its floats in the thread's workspace) and the panels it reads along a piece of k
 * fit a second-level cache of 1 MiB twice; the panel of b stays in the first level. Twice as many rows are as
 * fast on one core and share out less evenly. */
enum {
    ROWS = MICROKERNEL_GRAIN, /* of a block */
    COLUMNS = 2 * MICROKERNEL_GRAIN,
    SHARE = 4,        /* blocks or parts a thread should get, so that the last ones end together */
    K_BYTES = 1536,   /* of a line along a piece of k */
    PACK_LINES = 192, /* packed at a time: several cache lines where lines lie together */
    PACK_PART = 768,  /* numbers of each, for one thread */
    PACK_ALONG = 128, /* of them at a time where they lie together */
    PACK_ACROSS = 32, /* and where those of many lines do */
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

/* Lines [first, end) and their numbers [k, end_k), a few numbers at a time: where lines lie together in
 * memory, what one panel leaves in the cache is what the next one needs. */
static void pack_lines(const PackedProduct *p, const Side *s, int64_t first, int64_t end, int64_t k,
                       int64_t end_k)
{
    const int64_t step = s->source->k_step == 1 ? PACK_ALONG : PACK_ACROSS;
    for (; k < end_k; k += step) {
        for (int64_t i = first; i < end; i += s->panel) {
            s->pack(panel_at(p, s, i, k), s->source, i, smaller(s->panel, s->lines - i), k,
                    smaller(step, end_k - k));
        }
    }
}

/* A part: so many numbers of so many lines. */
typedef struct Part {
    int64_t lines, k;
} Part;

static int64_t pack_parts(const PackedProduct *p, const Side *s, Part size)
{
    return pieces(s->lines, size.lines) * pieces(p->k, size.k);
}

/* Deep ones, or shallow ones where there would be too few to share out. */
static Part pack_size(const PackedProduct *p, const Side *a, const Side *b, int threads)
{
    const Part deep = {PACK_LINES, PACK_PART}, shallow = {PACK_LINES, PACK_ALONG};
    const int64_t parts = pack_parts(p, a, deep) + pack_parts(p, b, deep);
    return parts >= SHARE * threads || threads == 1 ? deep : shallow;
}

static void pack_part(const PackedProduct *p, const Side *s, Part size, int64_t part)
{
    const int64_t deep = pieces(p->k, size.k);
    const int64_t first = part / deep * size.lines, k = part % deep * size.k;
    pack_lines(p, s, first, smaller(first + size.lines, s->lines), k, smaller(k + size.k, p->k));
}

/* ---- blocks ---- */

typedef struct Blocks {
    int64_t down, across; /* how many */
    int64_t row, column;  /* they begin at multiples of these */
} Blocks;

/* Wide ones read less; where there would be too few to share out, or the last turn would leave many threads
 * without work, narrow ones. */
static Blocks widest(const PackedProduct *p, int threads)
{
    const Blocks wide = {pieces(p->m, ROWS), pieces(p->n, COLUMNS), ROWS, COLUMNS};
    const Blocks narrow = {wide.down, pieces(p->n, MICROKERNEL_GRAIN), ROWS, MICROKERNEL_GRAIN};
    const int64_t turns = pieces(wide.down * wide.across, threads);
    const int64_t short_turns = pieces(narrow.down * narrow.across, threads);
    const bool even = 16 * turns * COLUMNS <= 17 * short_turns * MICROKERNEL_GRAIN;
    return threads == 1 || (turns >= SHARE && even) ? wide : narrow;
}

/* All of a size as far as tiles go, where threads get a few each: many even out by themselves, and whole
 * blocks are 1 % faster. */
static Blocks cut(const PackedProduct *p, int threads)
{
    Blocks cuts = widest(p, threads);
    if (threads > 1 && cuts.down * cuts.across <= 2 * SHARE * threads) {
        cuts.row = p->kernel->rows;
        cuts.column = p->kernel->columns;
    }
    return cuts;
}

/* Where block i of n begins. */
static int64_t block_start(int64_t length, int64_t grain, int64_t i, int64_t n)
{
    return smaller(pieces(length, grain) * i / n * grain, length);
}

typedef struct Block {
    int64_t row, rows, column, columns;
    float *sum; /* whole tiles, rows COLUMNS apart */
} Block;

/* Panels that come next are asked for while others are multiplied, some with every tile, so that the
 * second-level cache has them in time. */
static void ask_for(const char *panels, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += ALIGN) __builtin_prefetch(panels + i, 0, 2);
}

/* The sums go on over k numbers from `first` on; `ahead`: the rows that come next. */
static void add_piece(const PackedProduct *p, const Side *a, const Side *b, const Block *block,
                      int64_t first, int64_t k, const char *ahead)
{
    const Microkernel *kernel = p->kernel;
    const int64_t line = k * (int64_t)plan_dtype_size(kernel->operand), groups = k / kernel->depth;
    const int64_t down = pieces(block->rows, kernel->rows);
    const int64_t across = pieces(block->columns, kernel->columns);
    const int64_t some_rows = round_up(pieces(line * block->rows, down * across), ALIGN);
    const int64_t some_columns = round_up(pieces(line * kernel->columns, down), ALIGN);
    const char *x = panel_at(p, a, block->row, first), *y = panel_at(p, b, block->column, first);
    for (int64_t j = 0; j < block->columns; j += kernel->columns) {
        const char *next = y + (j + kernel->columns) * line;
        for (int64_t i = 0; i < block->rows; i += kernel->rows) {
            ask_for(next, some_columns);
            ask_for(ahead, some_rows);
            next += some_columns;
            ahead += some_rows;
            kernel->multiply(groups, x + i * line, y + j * line, block->sum + i * COLUMNS + j,
                             COLUMNS, first > 0);
        }
    }
}

static void multiply_block(const PackedProduct *p, const Side *a, const Side *b, const Block *block)
{
    const int64_t all = padded_k(p);
    const int64_t piece = K_BYTES / (int64_t)plan_dtype_size(p->kernel->operand);
    const int64_t end = block->row + block->rows, below = end < p->m ? end : 0;
    for (int64_t k = 0; k < all; k += piece) {
        const char *ahead =
            k + piece < all ? panel_at(p, a, block->row, k + piece) : panel_at(p, a, below, 0);
        add_piece(p, a, b, block, k, smaller(piece, all - k), ahead);
    }
    for (int64_t i = 0; i < block->rows; i++) {
        const int64_t to = (block->row + i) * p->ldc + block->column;
        rows_cpu_store(rows_cpu_at(p->c, p->c_dtype, to), block->sum + i * COLUMNS, p->c_dtype,
                       block->columns);
    }
}

/* Down first: neighbours share their columns of b. */
static Block block_at(const PackedProduct *p, Blocks cuts, int64_t i, float *sum)
{
    const int64_t y = i % cuts.down, x = i / cuts.down;
    const int64_t row = block_start(p->m, cuts.row, y, cuts.down);
    const int64_t column = block_start(p->n, cuts.column, x, cuts.across);
    return (Block){row, block_start(p->m, cuts.row, y + 1, cuts.down) - row, column,
                   block_start(p->n, cuts.column, x + 1, cuts.across) - column, sum};
}

void packed_multiply(const PackedProduct *p, void *workspace, int threads)
{
    const Room r = room(p, threads);
    const Blocks cuts = cut(p, threads);
    char *panels = workspace;
    float *sums = (float *)(void *)(panels + r.blocks);
    const Side a = {&p->a, p->kernel->pack_a, panels, p->m, p->kernel->rows};
    const Side b = {&p->b, p->kernel->pack_b, panels + r.b, p->n, p->kernel->columns};
    const Part size = pack_size(p, &a, &b, threads);
    const int64_t parts_a = pack_parts(p, &a, size), parts_b = pack_parts(p, &b, size);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < parts_a + parts_b; i++) {
            pack_part(p, i < parts_a ? &a : &b, size, i < parts_a ? i : i - parts_a);
        }
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < cuts.down * cuts.across; i++) {
            const Block block = block_at(p, cuts, i, sums + omp_thread() * ROWS * COLUMNS);
            multiply_block(p, &a, &b, &block);
        }
    }
}
