#include "op_cases.h"
#include "plan/step_state.h"

static const int64_t shapes[][3] = {{1, 1, 1},  {2, 1, 3},    {3, 2, 5},
                                    {5, 3, 67}, {2, 1, 1024}, {3, 7, 401}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* n micro-batches of B x T, the one at hand any of them: after the last comes the first. */
bool micro_batch_cases(Builder *b, int i, DType act)
{
    static const char *const states[] = {"#1state", "#2state", "#3state"};
    (void)act;
    if (i >= 3 * N_SHAPES) return false;
    const int64_t n = shapes[i / 3][0], B = shapes[i / 3][1], T = shapes[i / 3][2];
    const int tokens = builder_tensor(b, "tokens", TK_INPUT, DT_I32, DIMS(B, T));
    const int targets = builder_tensor(b, "targets", TK_INPUT, DT_I32, DIMS(B, T));
    const int all_tokens = op_cases_indices(b, "all tokens", 1000, DIMS(n * B, T));
    const int all_targets = op_cases_indices(b, "all targets", 1000, DIMS(n * B, T));
    const int state = builder_tensor(b, states[i % 3], TK_STATE, DT_F64, DIMS(STATE_COUNT));
    builder_node(b, OP_micro_batch, IDS(tokens, targets, state),
                 IDS(all_tokens, all_targets, state));
    return true;
}
