#include "ops/gemm_cpu/gemm_parts_cpu.h"

enum { CACHE_LINE = 64 };

/* ---- the sums of a block ---- */

typedef struct Block {
    GemmBlock at;
    float *tiles;   /* sums so far, one tile after the other; NULL: they are in `partial` */
    float *partial; /* sums over at most partial_k, in rows of whole tiles */
    float *total;   /* of the partial sums before; NULL: there is one */
    int64_t ld;     /* from row to row of the last two */
} Block;

/* Sums that continue from one KC to the next are kept one tile after the other, in the order in
 * which they are read again: on a Neoverse V1 that takes 1 % less time than rows (bf16: 4 %).
 * Beside private panels there is no room for tiles and rows in the second-level cache (AMX: 8 %
 * slower), and the sums in rows continue. */
static bool keeps_tiles(const GemmPlan *p, const GemmBlocking *b)
{
    return b->k > b->kc && !p->kernel->private_lines;
}

static bool has_partial_sums(const GemmBlocking *b)
{
    return b->k > b->partial_k;
}

/* Floats from row to row of a block. A tile is loaded while the one above it is on its way to
 * memory: where both have the same offset in a page, a core takes one for the other and waits (4K
 * aliasing). */
static int64_t sums_ld(const GemmPlan *p, const GemmBlocking *b)
{
    const int64_t page = 4096 / (int64_t)sizeof(float), line = CACHE_LINE / (int64_t)sizeof(float);
    return b->nc + (p->kernel->mr * b->nc % page == 0 ? line : 0);
}

int64_t gemm_macrokernel_bytes(const GemmPlan *p, const GemmBlocking *b)
{
    return (1 + keeps_tiles(p, b) + has_partial_sums(b)) * b->mc * sums_ld(p, b) *
           (int64_t)sizeof(float);
}

static Block block_at(const GemmPlan *p, const GemmBlocking *b, int64_t i, float *sums)
{
    const int64_t ld = sums_ld(p, b), floats = b->mc * ld;
    return (Block){.at = gemm_blocking_block(p, b, i),
                   .partial = sums,
                   .total = has_partial_sums(b) ? sums + floats : NULL,
                   .tiles = keeps_tiles(p, b) ? sums + (1 + has_partial_sums(b)) * floats : NULL,
                   .ld = ld};
}

/* ---- prefetching ---- */

/* The next micro-panel of b is prefetched while one is multiplied, some of it with every tile, so
 * that the second-level cache has it in time. Rows of a come in order, and prefetching them, too,
 * takes longer than it saves. Private panels are in that cache already, and many requests at a time
 * hold up the kernel's own loads (AVX-512: 5 % slower). */
typedef struct Prefetch {
    const char *at, *end;
    int64_t step; /* bytes, with every tile */
} Prefetch;

static Prefetch next_panel(const Gemm *g, const Block *block, int64_t k, int64_t column)
{
    const Microkernel *kernel = g->plan->kernel;
    const GemmBlocking *b = &g->blocking;
    if (kernel->private_lines) return (Prefetch){0};
    const int64_t after = k + b->kc < b->k ? k + b->kc : 0;
    const bool more = column + kernel->nr < block->at.columns;
    const int64_t first = more ? k : after, next = more ? column + kernel->nr : 0;
    const int64_t bytes = i64_min(b->kc, b->k - first) * b->number_bytes * kernel->nr;
    const char *at = gemm_pack_at(b, &g->b, block->at.column + next, first);
    const int64_t tiles = i64_ceil_div(block->at.rows, kernel->mr);
    return (Prefetch){at, at + bytes, i64_round_up(i64_ceil_div(bytes, tiles), CACHE_LINE)};
}

static void prefetch(Prefetch *p)
{
    for (int64_t i = 0; i < p->step && p->at < p->end; i += CACHE_LINE) {
        __builtin_prefetch(p->at, 0, 2);
        p->at += CACHE_LINE;
    }
}

/* ---- the loops ---- */

/* Whether the last KC may write whole tiles where they belong. */
static bool in_place(const GemmPlan *p, const Block *block)
{
    return p->c_dtype == DT_F32 && p->scale == 1 && !block->total && !p->accumulate && !p->bias;
}

/* What a KC is to the sums of a block. */
typedef struct KcStep {
    bool continues; /* the sums of the KC before */
    bool ends;      /* a partial sum */
    bool last;
} KcStep;

static KcStep step_at(const GemmBlocking *b, int64_t first, int64_t k)
{
    const bool last = first + k == b->k;
    return (KcStep){first % b->partial_k > 0, last || (first + k) % b->partial_k == 0, last};
}

/* The tile at row i and column j of the block. */
static MicrokernelTile tile_at(const GemmPlan *p, const Block *block, KcStep step, int64_t i,
                               int64_t j)
{
    const int64_t mr = p->kernel->mr, nr = p->kernel->nr, ld = block->ld;
    float *sum = block->partial + i * ld + j;
    MicrokernelTile tile = {step.continues ? sum : NULL, ld, sum, ld};
    if (block->tiles) {
        float *so_far = block->tiles + j * i64_round_up(block->at.rows, mr) + i * nr;
        tile = (MicrokernelTile){step.continues ? so_far : NULL, nr, step.ends ? sum : so_far,
                                 step.ends ? ld : nr};
    }
    const bool whole = i + mr <= block->at.rows && j + nr <= block->at.columns;
    if (step.last && whole && in_place(p, block)) {
        tile.to = (float *)p->c + (block->at.row + i) * p->ldc + block->at.column + j;
        tile.ld_to = p->ldc;
    }
    return tile;
}

/* Adds k numbers from `first` on to the sums: the loops over NR and MR around the micro-kernel. */
static void add_kc(const Gemm *g, const Block *block, int64_t first, int64_t k)
{
    const Microkernel *kernel = g->plan->kernel;
    const int64_t line = k * g->blocking.number_bytes, groups = k / kernel->kr;
    const KcStep step = step_at(&g->blocking, first, k);
    const char *a = gemm_pack_at(&g->blocking, &g->a, block->at.row, first);
    const char *b = gemm_pack_at(&g->blocking, &g->b, block->at.column, first);
    for (int64_t j = 0; j < block->at.columns; j += kernel->nr) {
        Prefetch next = next_panel(g, block, first, j);
        for (int64_t i = 0; i < block->at.rows; i += kernel->mr) {
            const MicrokernelTile tile = tile_at(g->plan, block, step, i, j);
            prefetch(&next);
            kernel->multiply(groups, a + i * line, b + j * line, &tile);
        }
    }
}

static void add_partial_sums(const Block *block, bool first)
{
    for (int64_t i = 0; i < block->at.rows; i++) {
        const float *sum = block->partial + i * block->ld;
        float *total = block->total + i * block->ld;
        for (int64_t j = 0; j < block->at.columns; j++)
            total[j] = first ? sum[j] : total[j] + sum[j];
    }
}

static void scale_row(float *x, int64_t n, float scale)
{
    for (int64_t j = 0; j < n; j++) x[j] *= scale;
}

/* Stores what was not written in place. */
static void store(const GemmPlan *p, const Block *block)
{
    const Microkernel *kernel = p->kernel;
    const GemmBlock *at = &block->at;
    const bool some = in_place(p, block);
    float *sums = block->total ? block->total : block->partial;
    const int64_t rows = some ? at->rows / kernel->mr * kernel->mr : 0;
    const int64_t columns = some ? at->columns / kernel->nr * kernel->nr : 0;
    for (int64_t i = 0; i < at->rows; i++) {
        const int64_t from = i < rows ? columns : 0, n = at->columns - from;
        if (n == 0) continue;
        const int64_t to = (at->row + i) * p->ldc + at->column + from;
        float *row = sums + i * block->ld + from;
        void *c = rows_cpu_at(p->c, p->c_dtype, to);
        if (p->scale != 1) scale_row(row, n, p->scale);
        if (p->bias)
            rows_cpu_add_row(row, rows_cpu_at(p->bias, p->bias_dtype, at->column + from),
                             p->bias_dtype, n);
        if (p->accumulate) rows_cpu_add_row(row, c, p->c_dtype, n);
        rows_cpu_store(c, row, p->c_dtype, n);
    }
}

static void pack_private(const Gemm *g, GemmOperand *x, int64_t first, int64_t lines, int64_t k)
{
    if (!x->is_private) return;
    x->first = first;
    gemm_pack(g, x, first, first + lines, k, i64_min(k + g->blocking.kc, g->plan->k));
}

void gemm_macrokernel(Gemm *g, int64_t i, float *sums)
{
    const GemmBlocking *b = &g->blocking;
    const Block block = block_at(g->plan, b, i, sums);
    for (int64_t k = 0; k < b->k; k += b->kc) {
        const int64_t n = i64_min(b->kc, b->k - k);
        pack_private(g, &g->a, block.at.row, block.at.rows, k);
        pack_private(g, &g->b, block.at.column, block.at.columns, k);
        add_kc(g, &block, k, n);
        if (block.total && step_at(b, k, n).ends) add_partial_sums(&block, k < b->partial_k);
    }
    store(g->plan, &block);
}
