#include "ops/broadcasting.h"
#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"

CPU_CLONES static void fill(float *y, int64_t n, float value)
{
    for (int64_t i = 0; i < n; i++) y[i] = value;
}

CPU_CLONES static void scaled(float *restrict y, const float *restrict x, int64_t n, float scale)
{
    for (int64_t i = 0; i < n; i++) y[i] = scale * x[i];
}

typedef struct Args {
    Operand x;
    double scale;
} Args;

/* x is one number, or one for each row. */
static void fill_rows(const void *args, float *const out[], const float *const in[], Chunk chunk)
{
    const Args *a = args;
    (void)in;
    fill(out[0], chunk.n, (float)(a->scale * at(a->x, chunk.row % a->x.rows, 0)));
}

/* x is one row. */
static void scale_row(const void *args, float *const out[], const float *const in[], Chunk chunk)
{
    const Args *a = args;
    scaled(out[0], in[0], chunk.n, (float)a->scale);
}

static Status run(const OpCall *call)
{
    const Args args = {element_in(call, 0), call->node->attr.scale};
    const bool one = args.x.rows * args.x.cols == 1;
    const Broadcasting how =
        one ? BROADCAST_COLUMN : broadcasting_of(op_out_shape(call, 0), op_in_shape(call, 0));
    Elementwise e = {.out = {element_out(call, 0)},
                     .flat = one || how == BROADCAST_NONE,
                     .kernel = how == BROADCAST_COLUMN ? fill_rows : scale_row,
                     .args = &args};
    if (how != BROADCAST_COLUMN) {
        e.in[0] = args.x;
        e.in[0].rows = 1; /* whatever shape x has */
    }
    return elementwise_cpu_run(call, &e);
}

/* A single element may be float64. */
static const char *declines(const Plan *plan, const Node *node)
{
    const Tensor *y = plan_out(plan, node, 0), *x = plan_in(plan, node, 0);
    const int64_t n = plan_elements(x);
    if (n > 1 && broadcasting_of(y, x) == BROADCAST_PERIOD && n != plan_width(y))
        return "x is not one row of y";
    return n > 1 ? rows_cpu_declines_f64(plan, node) : rows_cpu_refuse_f64(y);
}

const OpImpl broadcast_cpu[] = {{.name = "broadcast_cpu", .declines = declines, .run = run}, {0}};
