#include "base/i64.h"
#include "op_cases.h"

enum { HEAD_CASES = 6 };

typedef struct Case {
    int64_t m, n, k;
    bool bias, accumulate;
    bool wide_bias; /* kept in full precision */
    bool windows;   /* rows of every matrix lie further apart than they are wide */
} Case;

/* Sizes around the tiles of the usual kernels, primes, K = 1; then those of models. */
static const Case cases[] = {
    {1, 1, 1},
    {2, 3, 1},
    {5, 7, 11},
    {8, 12, 16},
    {17, 31, 9},
    {64, 48, 33},
    {101, 13, 97},
    {33, 97, 20},
    {150, 211, 67},
    {389, 100, 70},
    {1, 1, 1, .bias = true, .accumulate = true},
    {2, 3, 1, .bias = true},
    {17, 31, 9, .accumulate = true},
    {17, 31, 9, .bias = true, .windows = true},
    {64, 48, 33, .bias = true},
    {64, 48, 33, .bias = true, .accumulate = true},
    {101, 13, 97, .accumulate = true, .windows = true},
    {101, 13, 97, .bias = true, .accumulate = true, .windows = true},
    {33, 97, 20, .bias = true, .wide_bias = true},
    {150, 211, 67, .windows = true},
    {64, 200, 96, .bias = true, .accumulate = true},
    {33, 97, 20, .bias = true, .wide_bias = true, .accumulate = true, .windows = true},
    {40, 64, 48, .bias = true, .accumulate = true, .windows = true},
};

/* A matrix, or a window into one whose rows are whole vectors. */
static int matrix(Builder *b, const char *name, DType dtype, int64_t rows, int64_t cols,
                  bool window)
{
    if (!window) return builder_tensor(b, name, TK_ACTIVATION, dtype, DIMS(rows, cols));
    const int64_t ld = i64_round_up(cols + 1, 8);
    const int whole = builder_tensor(b, "padded", TK_ACTIVATION, dtype, DIMS(rows, ld));
    return builder_view(b, name, whole, 0, DIMS(rows, cols), ld);
}

static void add_case(Builder *b, const Case *c, DType act, bool ta, bool tb)
{
    const int x = matrix(b, "a", act, ta ? c->k : c->m, ta ? c->m : c->k, c->windows);
    const int w = matrix(b, "b", act, tb ? c->n : c->k, tb ? c->k : c->n, c->windows);
    const int y = matrix(b, "c", act, c->m, c->n, c->windows);
    const DType dtype = c->wide_bias ? op_full_dtype(act) : act;
    const int bias =
        c->bias ? builder_tensor(b, "bias", TK_ACTIVATION, dtype, DIMS(c->n)) : PLAN_NONE;
    NodeAttr *attr =
        builder_node(b, OP_matmul, IDS(y), IDS(x, w, bias, c->accumulate ? y : PLAN_NONE));
    attr->accumulate = c->accumulate;
    attr->transpose_a = ta;
    attr->transpose_b = tb;
}

/* The head of GPT-2, whose vocabulary is a prime: logits and both gradients. A CPU has a smaller
 * prime, of several blocks; differences in float64 would take long even so. */
static Case head_case(int i, DType act)
{
    const int64_t v = act == DT_F64 ? 503 : op_cases_gpu ? 50257 : 5003;
    const Case all[HEAD_CASES] = {{2, v, 5},
                                  {2, 5, v},
                                  {v, 5, 2, .accumulate = true},
                                  {2, v, 5, .bias = true},
                                  {3, 5, v, .bias = true, .accumulate = true},
                                  {v, 3, 4, .bias = true}};
    Case found = all[i];
    found.windows = true;
    return found;
}

/* Every form of transposition; and last a layer with a bias. */
bool matmul_cases(Builder *b, int i, DType act)
{
    enum { N = sizeof cases / sizeof *cases };
    const int which = i / 4;
    const bool ta = i & 1, tb = i & 2;
    if (which < N) {
        add_case(b, &cases[which], act, ta, tb);
    } else if (which < N + HEAD_CASES) {
        const Case head = head_case(which - N, act);
        add_case(b, &head, act, ta, tb);
    } else if (i == 4 * (N + HEAD_CASES)) {
        add_case(b, &(Case){40, act == DT_F64 ? 24 : 768, 64, .bias = true}, act, false, true);
    } else {
        return false;
    }
    return true;
}
