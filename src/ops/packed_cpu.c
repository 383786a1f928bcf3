#include "ops/packed_cpu.h"

/* A block of the result (its floats in the thread's workspace) and the panels it reads along a piece of k
 * fit a second-level cache of 1 MiB; one panel of b along it stays in the first level. */
enum {
    GRAIN = 96,     /* rows and columns of the smallest block: a multiple of every tile's */
    BLOCK = 192,    /* and of the largest */
    K_BYTES = 1536, /* of a line along the piece of k */
    PACK_LINES =
        96, /* lines packed at a time: those of whole cache lines where lines lie together */
    PACK_K = 128,
    SHARE = 4, /* blocks a thread should get, so that the last ones end together */
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
    const int64_t blocks = (int64_t)threads * BLOCK * BLOCK * (int64_t)sizeof(float);
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

/* Lines [first, first + lines) of all k, a piece of k at a time: where lines lie together in memory, what
 * one panel leaves in the cache is what the next one needs. */
static void pack_lines(const PackedProduct *p, const Side *s, int64_t first, int64_t lines)
{
    const int64_t size = (int64_t)plan_dtype_size(p->kernel->operand);
    for (int64_t k = 0; k < p->k; k += PACK_K) {
        const int64_t piece = smaller(PACK_K, p->k - k);
        for (int64_t i = first; i < first + lines; i += s->panel) {
            char *dst = s->panels + (i * padded_k(p) + k * s->panel) * size;
            s->pack(dst, s->source, i, smaller(s->panel, s->lines - i), k, piece);
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
    int64_t rows, columns, down, across;
} Blocks;

/* Large ones read less; where there would be too few to share out, small ones. */
static Blocks cut(const PackedProduct *p, int threads)
{
    Blocks b = {BLOCK, BLOCK, pieces(p->m, BLOCK), pieces(p->n, BLOCK)};
    if (b.down * b.across >= SHARE * threads || threads == 1) return b;
    enum { LEAST = MICROKERNEL_GRAIN };
    return (Blocks){LEAST, LEAST, pieces(p->m, LEAST), pieces(p->n, LEAST)};
}

/* sum[rows, columns] over k numbers from `first` on; whole tiles. */
static void add_piece(const PackedProduct *p, const char *a, const char *b, int64_t rows,
                      int64_t columns, int64_t first, int64_t k, float *sum)
{
    const Microkernel *kernel = p->kernel;
    const int64_t size = (int64_t)plan_dtype_size(kernel->operand), all = padded_k(p);
    for (int64_t j = 0; j < columns; j += kernel->columns) {
        const char *y = b + (j * all + first * kernel->columns) * size;
        for (int64_t i = 0; i < rows; i += kernel->rows) {
            const char *x = a + (i * all + first * kernel->rows) * size;
            kernel->multiply(k / kernel->depth, x, y, sum + i * BLOCK + j, BLOCK, first > 0);
        }
    }
}

static void multiply_block(const PackedProduct *p, const char *a, const char *b, const Blocks *cuts,
                           int64_t block, float *sum)
{
    const Microkernel *kernel = p->kernel;
    const int64_t size = (int64_t)plan_dtype_size(kernel->operand), all = padded_k(p);
    const int64_t row = block % cuts->down * cuts->rows, rows = smaller(cuts->rows, p->m - row);
    const int64_t column = block / cuts->down * cuts->columns;
    const int64_t columns = smaller(cuts->columns, p->n - column);
    for (int64_t k = 0; k < all; k += K_BYTES / size) {
        add_piece(p, a + row * all * size, b + column * all * size, rows, columns, k,
                  smaller(K_BYTES / size, all - k), sum);
    }
    for (int64_t i = 0; i < rows; i++) {
        rows_cpu_store(rows_cpu_at(p->c, p->c_dtype, (row + i) * p->ldc + column), sum + i * BLOCK,
                       p->c_dtype, columns);
    }
}

void packed_multiply(const PackedProduct *p, void *workspace, int threads)
{
    const Room r = room(p, threads);
    const Blocks cuts = cut(p, threads);
    char *panels = workspace;
    float *blocks = (float *)(void *)(panels + r.blocks);
    const Side a = {&p->a, p->kernel->pack_a, panels, p->m, p->kernel->rows};
    const Side b = {&p->b, p->kernel->pack_b, panels + r.b, p->n, p->kernel->columns};
    const int64_t parts_a = pieces(p->m, PACK_LINES), parts_b = pieces(p->n, PACK_LINES);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < parts_a + parts_b; i++) {
            if (i < parts_a) {
                pack_part(p, &a, i);
            } else {
                pack_part(p, &b, i - parts_a);
            }
        }
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < cuts.down * cuts.across; i++) {
            multiply_block(p, a.panels, b.panels, &cuts, i, blocks + omp_thread() * BLOCK * BLOCK);
        }
    }
}
