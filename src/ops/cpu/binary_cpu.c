/* y is as large as x, a number for each row of x, or rows that repeat. */
#include "ops/broadcasting.h"
#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "plan/op_functions.h"

/* static void WITH: `y_at` is y of element i. */
#define DEFINE(with, type, y_at)                                                     \
    CPU_CLONES static void with(int fn, float *z, const float *x, type y, int64_t n) \
    {                                                                                \
        switch (fn) {                                                                \
            ELEMENTWISE_CASE(FN_ADD, z, x[i] + y_at);                                \
            ELEMENTWISE_CASE(FN_SUB, z, x[i] - y_at);                                \
            ELEMENTWISE_CASE(FN_MUL, z, x[i] * y_at);                                \
            ELEMENTWISE_CASE(FN_DIV, z, x[i] / y_at);                                \
        default:                                                                     \
            break;                                                                   \
        }                                                                            \
    }

DEFINE(with_vector, const float *, y[i])
DEFINE(with_number, float, y)

typedef struct Args {
    int fn;
    Operand y;
} Args;

static void vector_kernel(const void *args, float *const out[], const float *const in[],
                          Chunk chunk)
{
    with_vector(((const Args *)args)->fn, out[0], in[0], in[1], chunk.n);
}

static void number_kernel(const void *args, float *const out[], const float *const in[],
                          Chunk chunk)
{
    const Args *a = args;
    with_number(a->fn, out[0], in[0], (float)at(a->y, chunk.row % a->y.rows, 0), chunk.n);
}

static Operand in_rows_of(Operand x, int64_t cols)
{
    return (Operand){x.data, x.dtype, x.rows * x.cols / cols, cols, cols};
}

/* Rows of z and x that y goes with: those of x; as long as y where y repeats within them. Where z
 * has other rows, nothing has gaps between them. */
static void align_rows(Elementwise *e, Broadcasting how, int64_t elements)
{
    const int64_t width = e->in[0].cols;
    const bool within = how == BROADCAST_PERIOD && elements > 1 && elements % width != 0;
    if (e->out[0].cols == width && !within) return;
    e->out[0] = in_rows_of(e->out[0], within ? elements : width);
    e->in[0] = in_rows_of(e->in[0], within ? elements : width);
}

static Status run(const OpCall *call)
{
    const Broadcasting how = broadcasting_of(op_in_shape(call, 0), op_in_shape(call, 1));
    const Args args = {call->node->attr.fn, element_in(call, 1)};
    const int64_t elements = args.y.rows * args.y.cols;
    Elementwise e = elementwise_cpu(call, 2, vector_kernel, &args);
    e.flat = e.flat && how == BROADCAST_NONE;
    if (!e.flat) align_rows(&e, how, elements);
    const int64_t width = e.in[0].cols;
    if (how == BROADCAST_COLUMN || elements == 1) {
        e.in[1] = (Operand){0};
        e.kernel = number_kernel;
    } else if (how == BROADCAST_PERIOD) { /* rows as wide as those of x, whatever shape y has */
        e.in[1] = (Operand){args.y.data, args.y.dtype, elements / width, width, width};
    }
    return elementwise_cpu_run(call, &e);
}

static const char *declines(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_in(plan, node, 0), *y = plan_in(plan, node, 1);
    const bool gaps = !plan_contiguous(x) || !plan_contiguous(plan_out(plan, node, 0));
    const bool number = plan_elements(y) == 1;
    if (broadcasting_of(x, y) == BROADCAST_PERIOD && !number && gaps &&
        plan_elements(y) % plan_width(x) != 0) {
        return "y repeats within a row, and rows have gaps between them";
    }
    return rows_cpu_declines_f64(plan, node);
}

const OpImpl binary_cpu[] = {{.name = "binary_cpu", .declines = declines, .run = run}, {0}};
