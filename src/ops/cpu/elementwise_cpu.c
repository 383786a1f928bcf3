#include "ops/cpu/elementwise_cpu.h"

#include "base/i64.h"

Elementwise elementwise_cpu(const OpCall *call, int n_in, ElementwiseKernel *kernel,
                            const void *args)
{
    Elementwise e = {.out = {element_out(call, 0)}, .flat = true, .kernel = kernel, .args = args};
    for (int i = 0; i < n_in; i++) e.in[i] = element_in(call, i);
    for (int i = 0; i < call->node->n_out + call->node->n_in; i++) {
        const int id = call->plan->operands[call->node->first + i];
        e.flat = e.flat && (id == PLAN_NONE || plan_contiguous(&call->plan->tensors[id]));
    }
    return e;
}

typedef struct Chunks {
    int64_t width, per_row;
    ElementwiseBody *body;
    const void *context;
} Chunks;

static void run_chunks(const void *data, int64_t first, int64_t last, int thread)
{
    const Chunks *c = data;
    (void)thread;
    for (int64_t i = first; i < last; i++) {
        const int64_t col = i % c->per_row * ROWS_CHUNK;
        c->body(c->context, (Chunk){i / c->per_row, col, i64_min(ROWS_CHUNK, c->width - col)});
    }
}

void elementwise_cpu_for_each(const OpCall *call, Operand x, bool flat, ElementwiseBody *body,
                              const void *context)
{
    const int64_t width = flat ? x.rows * x.cols : x.cols;
    const int64_t per_row = i64_ceil_div(width, ROWS_CHUNK), count = per_row * (flat ? 1 : x.rows);
    thread_team_for(call->threads, count, 8, run_chunks, &(Chunks){width, per_row, body, context});
}

static void run_chunk(const void *context, Chunk chunk)
{
    const Elementwise *e = context;
    float out_buffer[ELEMENTWISE_OUT][ROWS_CHUNK], in_buffer[ELEMENTWISE_IN][ROWS_CHUNK];
    float *out[ELEMENTWISE_OUT] = {0};
    const float *in[ELEMENTWISE_IN] = {0};
    for (int i = 0; i < ELEMENTWISE_OUT; i++) {
        if (!e->out[i].data) continue;
        out[i] = operand_cpu_target(e->out[i], chunk.row, chunk.col, out_buffer[i]);
    }
    for (int i = 0; i < ELEMENTWISE_IN; i++) {
        const Operand x = e->in[i];
        if (!x.data) continue;
        in[i] = operand_cpu_read(x, chunk.row % x.rows, chunk.col, chunk.n, in_buffer[i]);
    }
    e->kernel(e->args, out, in, chunk);
    for (int i = 0; i < ELEMENTWISE_OUT; i++) {
        if (out[i]) operand_cpu_finish(e->out[i], chunk.row, chunk.col, chunk.n, out[i]);
    }
}

Status elementwise_cpu_run(const OpCall *call, const Elementwise *e)
{
    elementwise_cpu_for_each(call, e->out[0], e->flat, run_chunk, e);
    return ST_OK;
}
