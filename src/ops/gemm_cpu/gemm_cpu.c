#include "ops/gemm_cpu/gemm_blocking_cpu.h"

enum {
    PACK_LINES = 192,   /* packed at a time: several cache lines where lines lie together */
    PACK_PART = 768,    /* numbers of each, for one thread */
    PACK_LESS = 128,    /* or so many, where there would be too few parts */
    PACK_ACROSS = 16,   /* of them at a time where many lines lie together */
    PACK_SHARE = 4,     /* parts a thread should get, so that the last ones end together */
    PIECE_GRAIN = 16,   /* numbers: four lines of a panel, or more, fill cache lines */
    LONGEST_SUM = 4096, /* numbers of k that are added one after the other */
    ALIGN = 64
};

/* ---- numbers of k ---- */

/* Bytes of a number in a panel. */
static int64_t operand_size(const GemmPlan *p)
{
    const int parts = p->kernel->parts;
    return parts ? parts * (int64_t)plan_dtype_size(DT_BF16)
                 : (int64_t)plan_dtype_size(p->kernel->operand);
}

static int64_t padded_k(const GemmPlan *p)
{
    return gemm_round_up(p->k, p->kernel->depth);
}

/* Numbers of a piece of k: as long as each other, as far as groups go, and whole cache lines of every panel. */
static int64_t piece_length(const GemmPlan *p)
{
    const int64_t most = p->kernel->piece / operand_size(p), k = padded_k(p);
    const int64_t depth = p->kernel->depth, whole = depth > PIECE_GRAIN ? depth : PIECE_GRAIN;
    return gemm_round_up(gemm_pieces(k, gemm_pieces(k, most)), whole);
}

/* The error of a sum in fp32 grows with its length: a long one is a sum of those over spans, each some pieces
 * of k. */
static int64_t span_length(const GemmPlan *p)
{
    const int64_t piece = piece_length(p);
    return piece < LONGEST_SUM ? LONGEST_SUM / piece * piece : piece;
}

static bool has_spans(const GemmPlan *p)
{
    return padded_k(p) > span_length(p);
}

static int64_t panel_bytes(const GemmPlan *p, int64_t lines, int64_t k)
{
    return gemm_round_up(lines * k * operand_size(p), ALIGN);
}

/* Sums that go on from one piece of k to the next are kept one tile after the other, in the order in which they are read
 * again: on a Neoverse V1 tiles take 1 % less time than in rows (bf16: 4 %). With strips there is no room for
 * them beside the rows in the second-level cache (AMX: 8 % slower), and those of the rows go on. */
static bool goes_on_in_tiles(const GemmPlan *p)
{
    return padded_k(p) > piece_length(p) && !p->kernel->strip;
}

/* ---- the workspace: panels of a, panels of b; for each thread blocks of floats and a strip ---- */

typedef struct Room {
    int64_t b, blocks, strips, bytes; /* from its start; the panels of a are first */
    int64_t block, strip;             /* bytes of one */
    int64_t strip_b;                  /* from the start of a strip; that of a is first */
} Room;

/* Floats from row to row of a block. A tile is loaded while the one above it is on its way to memory: where both have
 * the same place in a page, a processor takes one for the other and waits. */
static int64_t block_ld(const GemmPlan *p, const Cut *cut)
{
    const int64_t page = 4096 / (int64_t)sizeof(float), line = ALIGN / (int64_t)sizeof(float);
    return cut->columns + (p->kernel->rows * cut->columns % page == 0 ? line : 0);
}

static int64_t block_floats(const GemmPlan *p, const Cut *cut)
{
    return cut->rows * block_ld(p, cut);
}

static Room room(const GemmPlan *p, const Cut *cut, int threads)
{
    const bool of_a = cut->strips & STRIPS_OF_A, of_b = cut->strips & STRIPS_OF_B;
    const int64_t k = padded_k(p), piece = gemm_smaller(k, piece_length(p));
    const int64_t a = of_a ? 0 : panel_bytes(p, gemm_round_up(p->m, p->kernel->rows), k);
    const int64_t b = of_b ? 0 : panel_bytes(p, gemm_round_up(p->n, p->kernel->columns), k);
    const int64_t sums =
        (1 + goes_on_in_tiles(p) + has_spans(p)) * block_floats(p, cut) * (int64_t)sizeof(float);
    const int64_t strip_a = of_a ? panel_bytes(p, cut->rows, piece) : 0;
    const int64_t strip = strip_a + (of_b ? panel_bytes(p, cut->columns, piece) : 0);
    return (Room){.b = a,
                  .blocks = a + b,
                  .strips = a + b + threads * sums,
                  .bytes = a + b + threads * (sums + strip),
                  .block = sums,
                  .strip = strip,
                  .strip_b = strip_a};
}

/* The same product by the kernel that takes every number. */
static GemmPlan by_the_other(const GemmPlan *p)
{
    GemmPlan other = *p;
    other.kernel = p->kernel->instead;
    return other;
}

size_t gemm_workspace(const GemmPlan *p, int threads)
{
    const Cut cut = gemm_blocking(p, threads);
    const size_t bytes = (size_t)room(p, &cut, threads).bytes;
    if (!p->kernel->instead) return bytes;
    const GemmPlan other = by_the_other(p);
    const size_t needs = gemm_workspace(&other, threads);
    return needs > bytes ? needs : bytes;
}

/* ---- packing ---- */

typedef struct Side {
    const PackSource *source;
    PackPanel *pack;
    char *panels;
    int64_t lines;
    int panel;    /* lines of one */
    bool strip;   /* the panels are those of a strip and of one piece of k */
    int64_t line; /* the first one of the strip */
} Side;

/* A piece of k of all panels, then the next piece: what a block reads at a time lies together, whatever
 * k is. */
static char *panel_at(const GemmPlan *p, const Side *s, int64_t line, int64_t k)
{
    const int64_t length = piece_length(p), piece = k / length * length;
    const int64_t here = gemm_smaller(length, padded_k(p) - piece);
    const int64_t before = s->strip ? 0 : piece * gemm_round_up(s->lines, s->panel);
    return s->panels +
           (before + (line - s->line) * here + (k - piece) * s->panel) * operand_size(p);
}

/* Lines [first, end) and their numbers [k, end_k), at most `step` numbers at a time. */
static void pack_some(const GemmPlan *p, const Side *s, int64_t first, int64_t end, int64_t k,
                      int64_t end_k, int64_t step)
{
    const int64_t piece = piece_length(p);
    while (k < end_k) {
        const int64_t left = gemm_smaller(piece - k % piece, end_k - k),
                      n = gemm_smaller(step, left);
        for (int64_t i = first; i < end; i += s->panel) {
            s->pack(panel_at(p, s, i, k), s->source, i, gemm_smaller(s->panel, s->lines - i), k, n);
        }
        k += n;
    }
}

/* The same. Where numbers of a line lie together, one panel after the other: what a processor fetches ahead by itself is
 * the rest of those lines. Where lines do, a few numbers at a time: what one panel leaves in the cache is what the
 * next one needs. */
static void pack_lines(const GemmPlan *p, const Side *s, int64_t first, int64_t end, int64_t k,
                       int64_t end_k)
{
    const bool along = s->source->k_step == 1;
    const int64_t step = along ? end_k - k : gemm_round_up(PACK_ACROSS, p->kernel->depth);
    const int64_t lines = along ? s->panel : end - first;
    for (; first < end; first += lines) {
        pack_some(p, s, first, gemm_smaller(first + lines, end), k, end_k, step);
    }
}

/* A part: so many numbers of so many lines. */
typedef struct Part {
    int64_t lines, k;
} Part;

static int64_t pack_parts(const GemmPlan *p, const Side *s, Part size)
{
    return s->strip ? 0 : gemm_pieces(s->lines, size.lines) * gemm_pieces(p->k, size.k);
}

/* Deep ones, or smaller ones where there would be too few to share out. */
static Part pack_size(const GemmPlan *p, const Side *a, const Side *b, int threads)
{
    static const Part sizes[] = {{PACK_LINES, PACK_PART},
                                 {PACK_LINES, PACK_LESS},
                                 {MICROKERNEL_GRAIN, PACK_LESS},
                                 {MICROKERNEL_GRAIN, PACK_LESS / 2}};
    const int last = (int)(sizeof sizes / sizeof *sizes) - 1;
    int i = 0;
    while (threads > 1 && i < last &&
           pack_parts(p, a, sizes[i]) + pack_parts(p, b, sizes[i]) < PACK_SHARE * threads)
        i++;
    return sizes[i];
}

static void pack_part(const GemmPlan *p, const Side *s, Part size, int64_t part)
{
    const int64_t deep = gemm_pieces(p->k, size.k);
    const int64_t first = part / deep * size.lines, k = part % deep * size.k;
    pack_lines(p, s, first, gemm_smaller(first + size.lines, s->lines), k,
               gemm_smaller(k + size.k, p->k));
}

/* ---- blocks ---- */

typedef struct Block {
    int64_t row, rows, column, columns;
    float *tiles; /* sums of the pieces so far, one tile after the other; NULL: they are in `sum` */
    float *sum;   /* of a span of k, in rows of whole tiles */
    float *total; /* of the spans before; NULL: there is one span */
    int64_t ld;   /* from row to row of the last two */
} Block;

/* The panel of b that comes next is asked for while one is multiplied, some of it with every tile, so that the second-level
 * cache has it in time. Rows of a come in order, and asking for them, too, takes longer than it spares. With strips nothing
 * is asked for: they are in that cache, and many requests at a time hold the kernel's own loads up (AVX-512: 5 %
 * slower). */
typedef struct Ahead {
    const char *at, *end;
    int64_t some; /* bytes, with every tile */
} Ahead;

static Ahead next_panel(const GemmPlan *p, const Side *b, const Block *block, int64_t k,
                        int64_t column)
{
    const Microkernel *kernel = p->kernel;
    if (kernel->strip) return (Ahead){0};
    const int64_t all = padded_k(p), length = piece_length(p);
    const int64_t after = k + length < all ? k + length : 0;
    const bool more = column + kernel->columns < block->columns;
    const int64_t first = more ? k : after, next = more ? column + kernel->columns : 0;
    const int64_t bytes = gemm_smaller(length, all - first) * operand_size(p) * kernel->columns;
    const char *at = panel_at(p, b, block->column + next, first);
    const int64_t tiles = gemm_pieces(block->rows, kernel->rows);
    return (Ahead){at, at + bytes, gemm_round_up(gemm_pieces(bytes, tiles), ALIGN)};
}

static void ask(Ahead *ahead)
{
    for (int64_t i = 0; i < ahead->some && ahead->at < ahead->end; i += ALIGN) {
        __builtin_prefetch(ahead->at, 0, 2);
        ahead->at += ALIGN;
    }
}

/* Whether the last piece of k may write whole tiles where they belong. */
static bool in_place(const GemmPlan *p, const Block *block)
{
    return p->c_dtype == DT_F32 && p->scale == 1 && !block->total;
}

/* What a piece of k is to the sums of a block. */
typedef struct Turn {
    bool goes_on; /* from those of the piece before */
    bool ends;    /* a span */
    bool last;
} Turn;

static Turn turn_at(const GemmPlan *p, int64_t first, int64_t k)
{
    const int64_t span = span_length(p);
    const bool last = first + k == padded_k(p);
    return (Turn){first % span > 0, last || (first + k) % span == 0, last};
}

/* The tile at row i and column j of the block. */
static MicrokernelTile tile_at(const GemmPlan *p, const Block *block, Turn turn, int64_t i,
                               int64_t j)
{
    const int64_t rows = p->kernel->rows, columns = p->kernel->columns, ld = block->ld;
    float *sum = block->sum + i * ld + j;
    MicrokernelTile tile = {turn.goes_on ? sum : NULL, ld, sum, ld};
    if (block->tiles) {
        float *so_far = block->tiles + j * gemm_round_up(block->rows, rows) + i * columns;
        tile = (MicrokernelTile){turn.goes_on ? so_far : NULL, columns, turn.ends ? sum : so_far,
                                 turn.ends ? ld : columns};
    }
    const bool whole = i + rows <= block->rows && j + columns <= block->columns;
    if (turn.last && whole && in_place(p, block)) {
        tile.to = (float *)p->c + (block->row + i) * p->ldc + block->column + j;
        tile.ld_to = p->ldc;
    }
    return tile;
}

/* The sums go on over k numbers from `first` on. */
static void add_piece(const GemmPlan *p, const Side *a, const Side *b, const Block *block,
                      int64_t first, int64_t k)
{
    const Microkernel *kernel = p->kernel;
    const int64_t line = k * operand_size(p), groups = k / kernel->depth;
    const Turn turn = turn_at(p, first, k);
    const char *x = panel_at(p, a, block->row, first), *y = panel_at(p, b, block->column, first);
    for (int64_t j = 0; j < block->columns; j += kernel->columns) {
        Ahead ahead = next_panel(p, b, block, first, j);
        for (int64_t i = 0; i < block->rows; i += kernel->rows) {
            const MicrokernelTile tile = tile_at(p, block, turn, i, j);
            ask(&ahead);
            kernel->multiply(groups, x + i * line, y + j * line, &tile);
        }
    }
}

static void scale_row(float *x, int64_t n, float scale)
{
    for (int64_t j = 0; j < n; j++) x[j] *= scale;
}

/* What was not written in place. */
static void store(const GemmPlan *p, const Block *block)
{
    const Microkernel *kernel = p->kernel;
    const bool some = in_place(p, block);
    float *sums = block->total ? block->total : block->sum;
    const int64_t rows = some ? block->rows / kernel->rows * kernel->rows : 0;
    const int64_t columns = some ? block->columns / kernel->columns * kernel->columns : 0;
    for (int64_t i = 0; i < block->rows; i++) {
        const int64_t at = i < rows ? columns : 0, n = block->columns - at;
        if (n == 0) continue;
        const int64_t to = (block->row + i) * p->ldc + block->column + at;
        float *row = sums + i * block->ld + at;
        if (p->scale != 1) scale_row(row, n, p->scale);
        rows_cpu_store(rows_cpu_at(p->c, p->c_dtype, to), row, p->c_dtype, n);
    }
}

static void add_span(const Block *block, bool first)
{
    for (int64_t i = 0; i < block->rows; i++) {
        const float *sum = block->sum + i * block->ld;
        float *total = block->total + i * block->ld;
        for (int64_t j = 0; j < block->columns; j++) total[j] = first ? sum[j] : total[j] + sum[j];
    }
}

static void multiply_block(const GemmPlan *p, const Side *a, const Side *b, const Block *block)
{
    const int64_t all = padded_k(p), piece = piece_length(p), span = span_length(p);
    for (int64_t k = 0; k < all; k += piece) {
        const int64_t end = gemm_smaller(k + piece, p->k);
        if (a->strip) pack_lines(p, a, block->row, block->row + block->rows, k, end);
        if (b->strip) pack_lines(p, b, block->column, block->column + block->columns, k, end);
        const int64_t n = gemm_smaller(piece, all - k);
        add_piece(p, a, b, block, k, n);
        if (block->total && turn_at(p, k, n).ends) add_span(block, k < span);
    }
    store(p, block);
}

static Block block_at(const GemmPlan *p, const Cut *cut, int64_t i, float *sums)
{
    const Place at = gemm_blocking_place(p, cut, i);
    const int64_t floats = block_floats(p, cut);
    return (Block){.row = at.row,
                   .rows = at.rows,
                   .column = at.column,
                   .columns = at.columns,
                   .sum = sums,
                   .total = has_spans(p) ? sums + floats : NULL,
                   .tiles = goes_on_in_tiles(p) ? sums + (1 + has_spans(p)) * floats : NULL,
                   .ld = block_ld(p, cut)};
}

static Side on_strip(const Side *s, char *panels, int64_t line)
{
    Side strip = *s;
    if (!s->strip) return strip;
    strip.panels = panels;
    strip.line = line;
    return strip;
}

static void multiply(const GemmPlan *p, void *workspace, int threads)
{
    const Microkernel *kernel = p->kernel;
    const Cut cut = gemm_blocking(p, threads);
    const Room r = room(p, &cut, threads);
    char *panels = workspace;
    const Side a = {&p->a, kernel->pack_a, panels, p->m, kernel->rows, cut.strips & STRIPS_OF_A, 0};
    const Side b = {
        &p->b, kernel->pack_b, panels + r.b, p->n, kernel->columns, cut.strips & STRIPS_OF_B, 0};
    const Part size = pack_size(p, &a, &b, threads);
    const int64_t parts_a = pack_parts(p, &a, size), parts = parts_a + pack_parts(p, &b, size);
    CutQueues queues = gemm_blocking_queues(&cut);
#pragma omp parallel num_threads(threads)
    {
        char *strip = panels + r.strips + omp_thread() * r.strip;
        float *sums = (float *)(void *)(panels + r.blocks + omp_thread() * r.block);
#pragma omp for schedule(dynamic) nowait
        for (int64_t i = 0; i < parts; i++)
            pack_part(p, i < parts_a ? &a : &b, size, i < parts_a ? i : i - parts_a);
        if (parts > 0) {
#pragma omp barrier
        }
        for (int64_t i, turn = 0; (i = gemm_blocking_next(&queues, omp_thread(), &turn)) >= 0;) {
            const Block block = block_at(p, &cut, i, sums);
            const Side x = on_strip(&a, strip, block.row),
                       y = on_strip(&b, strip + r.strip_b, block.column);
            multiply_block(p, &x, &y, &block);
        }
    }
}

void gemm_multiply(const GemmPlan *p, void *workspace, int threads)
{
    bool beyond = false;
    GemmPlan watched = *p;
    watched.a.beyond = watched.b.beyond = &beyond;
    multiply(&watched, workspace, threads);
    if (!beyond) return;
    const GemmPlan other = by_the_other(p);
    multiply(&other, workspace, threads);
}
