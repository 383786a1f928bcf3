/* Threads take tokens: each writes the K rows of its own. */
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"

static void permute_tokens(const void *data, int64_t begin, int64_t end, int thread)
{
    const OpCall *call = data;
    const Operand xp = element_out(call, 0), x = element_in(call, 0);
    const int32_t *place = op_in(call, 1);
    const int64_t K = plan_width(op_in_shape(call, 1));
    (void)thread;
    for (int64_t n = begin; n < end; n++) {
        for (int64_t j = 0; j < K; j++)
            rows_cpu_convert(operand_cpu_at(xp, place[n * K + j], 0), xp.dtype,
                             operand_cpu_at(x, n, 0), x.dtype, x.cols);
    }
}

static Status run_permute(const OpCall *call)
{
    thread_team_for(call->threads, plan_rows(op_in_shape(call, 0)), 8, permute_tokens, call);
    return ST_OK;
}

const OpImpl permute_cpu[] = {
    {.name = "permute_cpu", .declines = rows_cpu_declines_f64, .run = run_permute}, {0}};
