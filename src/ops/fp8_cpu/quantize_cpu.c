/* The largest number of each row's blocks, then of those that share a scale, then every row rounded. What is
 * wanted transposed is transposed first, as floats. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "ops/fp8/quantize.h"

/* Of x, or of x transposed: q and its scales, and in `amax`, at r * scale.cols + c, first the largest number
 * of row r in column block c, then its factor. */
typedef struct Pair {
    Operand q, scale, x;
    int64_t height, width; /* of the blocks that share a scale */
    float *amax;
} Pair;

static void find_amax(const void *data, int64_t first, int64_t last, int thread)
{
    const Pair *p = data;
    float buffer[ROWS_CHUNK];
    (void)thread;
    for (int64_t r = first; r < last; r++) {
        float *amax = p->amax + r * p->scale.cols;
        for (int64_t c = 0; c < p->scale.cols; c++) amax[c] = 0;
        for (int64_t at = 0; at < p->x.cols; at += ROWS_CHUNK) {
            const int64_t n = i64_min(ROWS_CHUNK, p->x.cols - at);
            const float *row = operand_cpu_read(p->x, r, at, n, buffer);
            for (int64_t k = 0; k < n; k++) {
                float *block = &amax[(at + k) / p->width];
                *block = quantize_larger(*block, row[k]);
            }
        }
    }
}

/* The scale of each block, and in each of its rows the factor. */
static void find_factors(const Pair *p, const float *recent)
{
    const Float8 format = quantize_format(p->q.dtype);
    for (int64_t first = 0; first < p->x.rows; first += p->height) {
        const int64_t last = i64_min(first + p->height, p->x.rows);
        for (int64_t c = 0; c < p->scale.cols; c++) {
            float amax = 0;
            for (int64_t r = first; r < last; r++)
                amax = quantize_larger(amax, p->amax[r * p->scale.cols + c]);
            const float factor = quantize_factor(format, recent ? *recent : amax);
            for (int64_t r = first; r < last; r++) p->amax[r * p->scale.cols + c] = factor;
            put(p->scale, first / p->height, c, (double)(1 / factor));
        }
    }
}

static void round_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const Pair *p = data;
    float buffer[ROWS_CHUNK];
    (void)thread;
    for (int64_t r = first; r < last; r++) {
        const float *factor = p->amax + r * p->scale.cols;
        for (int64_t at = 0; at < p->x.cols; at += ROWS_CHUNK) {
            const int64_t n = i64_min(ROWS_CHUNK, p->x.cols - at);
            rows_cpu_load(buffer, operand_cpu_at(p->x, r, at), p->x.dtype, n);
            for (int64_t k = 0; k < n; k++) buffer[k] *= factor[(at + k) / p->width];
            rows_cpu_store(operand_cpu_at(p->q, r, at), buffer, p->q.dtype, n);
        }
    }
}

static void run_pair(const OpCall *call, int first, Operand x, float *amax)
{
    Pair p = {
        .q = element_out(call, first), .scale = element_out(call, first + 1), .x = x, .amax = amax};
    p.height = quantize_block(x.rows, p.scale.rows);
    p.width = quantize_block(x.cols, p.scale.cols);
    thread_team_for(call->threads, x.rows, 8, find_amax, &p);
    find_factors(&p, op_in(call, QUANTIZE_IN_RECENT));
    thread_team_for(call->threads, x.rows, 8, round_rows, &p);
}

typedef struct Transposition {
    Operand from;
    float *to;
} Transposition;

static void transpose(const void *data, int64_t first, int64_t last, int thread)
{
    const Transposition *t = data;
    float buffer[ROWS_CHUNK];
    (void)thread;
    for (int64_t r = 0; r < t->from.rows; r++) {
        for (int64_t at = first; at < last; at += ROWS_CHUNK) {
            const int64_t n = i64_min(ROWS_CHUNK, last - at);
            const float *row = operand_cpu_read(t->from, r, at, n, buffer);
            for (int64_t k = 0; k < n; k++) t->to[(at + k) * t->from.rows + r] = row[k];
        }
    }
}

/* All of x as one block. */
static void put_amax(const OpCall *call, Operand x, float *amax)
{
    float scale = 0, *largest = op_out(call, QUANTIZE_OUT_AMAX);
    Pair p = {.x = x, .amax = amax, .width = x.cols, .scale = {&scale, DT_F32, 1, 1, 1}};
    thread_team_for(call->threads, x.rows, 8, find_amax, &p);
    for (int64_t r = 0; r < x.rows; r++) *largest = quantize_larger(*largest, amax[r]);
}

/* Elements that `amax` of a pair takes. */
static int64_t amax_elements(const Plan *plan, const Node *node, int first)
{
    const Tensor *q = plan_out(plan, node, first), *scale = plan_out(plan, node, first + 1);
    return q ? plan_rows(q) * plan_width(scale) : 0;
}

static int64_t most_amax_elements(const Plan *plan, const Node *node)
{
    const int64_t as_stored = amax_elements(plan, node, QUANTIZE_OUT_Q);
    const int64_t transposed = amax_elements(plan, node, QUANTIZE_OUT_TRANSPOSED);
    return i64_max(plan_rows(plan_in(plan, node, QUANTIZE_IN_X)), i64_max(as_stored, transposed));
}

static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    const bool transposed = plan_out(plan, node, QUANTIZE_OUT_TRANSPOSED) != NULL;
    const int64_t copy = transposed ? plan_elements(plan_in(plan, node, QUANTIZE_IN_X)) : 0;
    return (size_t)(most_amax_elements(plan, node) + copy) * sizeof(float);
}

static Status run(const OpCall *call)
{
    const Operand x = element_in(call, QUANTIZE_IN_X);
    float *amax = call->workspace, *copy = amax + most_amax_elements(call->plan, call->node);
    if (op_out(call, QUANTIZE_OUT_AMAX)) put_amax(call, x, amax);
    if (op_out(call, QUANTIZE_OUT_Q)) run_pair(call, QUANTIZE_OUT_Q, x, amax);
    if (!op_out(call, QUANTIZE_OUT_TRANSPOSED)) return ST_OK;
    const Transposition t = {x, copy};
    thread_team_for(call->threads, x.cols, 64, transpose, &t);
    run_pair(call, QUANTIZE_OUT_TRANSPOSED, (Operand){copy, DT_F32, x.cols, x.rows, x.rows}, amax);
    return ST_OK;
}

const OpImpl quantize_cpu[] = {
    {.name = "quantize_cpu", .declines = rows_cpu_declines_f64, .workspace = workspace, .run = run},
    {0}};
