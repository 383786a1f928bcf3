/* Nodes that make no sense are refused by their op's check(), with a message that says where. */
#include "op_harness.h"
#include "plan/op_functions.h"

typedef struct Fixture {
    Plan plan;
    Builder b;
} Fixture;

static int setup(void **state)
{
    static Fixture f;
    f.plan = (Plan){0};
    builder_init(&f.b, &f.plan);
    builder_scope(&f.b, 3, "somewhere");
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    builder_free(&f->b);
    plan_free(&f->plan);
    return 0;
}

static int tensor(Fixture *f, DType dtype, int64_t rows, int64_t cols)
{
    return builder_tensor(&f->b, "t", TK_ACTIVATION, dtype, DIMS(rows, cols));
}

/* The last node is refused, and `part` is in the message, as is the scope. */
static void refused(Fixture *f, const char *part)
{
    const Node *node = &f->plan.nodes[f->plan.n_nodes - 1];
    ASSERT_OK(f->b.status);
    assert_int_equal(op_def(node->op)->check(&f->plan, node), ST_FAILED);
    assert_non_null(strstr(status_message(), "layer.3/somewhere"));
    if (!strstr(status_message(), part)) fail_msg("'%s' is not in '%s'", part, status_message());
}

static void a_missing_operand(void **state)
{
    Fixture *f = *state;
    const int x = tensor(f, DT_F32, 2, 4);
    builder_node(&f->b, OP_binary, IDS(x), IDS(x))->fn = FN_ADD;
    refused(f, "input 1 is missing");
    builder_node(&f->b, OP_unary, IDS(PLAN_NONE), IDS(x));
    refused(f, "output 0 is missing");
    builder_node(&f->b, OP_unary_grad, IDS(x), IDS(x, PLAN_NONE, x))->fn = FN_LOG;
    refused(f, "x is missing");
}

static void shapes_that_differ(void **state)
{
    Fixture *f = *state;
    const int small = tensor(f, DT_F32, 2, 3), large = tensor(f, DT_F32, 2, 4);
    const int tall = tensor(f, DT_F32, 5, 4), column = tensor(f, DT_F32, 2, 1);
    builder_node(&f->b, OP_unary, IDS(small), IDS(large));
    refused(f, "y has 6 elements, not 8");
    builder_node(&f->b, OP_binary, IDS(large), IDS(large, small))->fn = FN_MUL;
    refused(f, "do not repeat");
    builder_node(&f->b, OP_swiglu, IDS(small), IDS(large));
    refused(f, "h has 8 elements, not 12");
    builder_node(&f->b, OP_broadcast, IDS(large), IDS(small));
    refused(f, "do not repeat");
    builder_node(&f->b, OP_reduce, IDS(column), IDS(tall))->fn = FN_ROW_SUM;
    refused(f, "y has 2 elements, not 5");
    builder_node(&f->b, OP_causal_mask, IDS(large), IDS(large));
    refused(f, "no square matrices");
    builder_node(&f->b, OP_softmax, IDS(large), IDS(large))->causal = true;
    refused(f, "no square matrices");
    builder_node(&f->b, OP_rotate_pairs, IDS(small), IDS(small));
    refused(f, "no pairs");
}

static void a_function_that_is_none(void **state)
{
    Fixture *f = *state;
    const int x = tensor(f, DT_F32, 2, 4);
    builder_node(&f->b, OP_unary, IDS(x), IDS(x))->fn = 99;
    refused(f, "no function 99");
    builder_node(&f->b, OP_binary, IDS(x), IDS(x, x))->fn = -1;
    refused(f, "no function -1");
    builder_node(&f->b, OP_reduce, IDS(x), IDS(x))->fn = 4;
    refused(f, "no function 4");
    builder_node(&f->b, OP_adamw_part, IDS(x), IDS(x, x))->fn = 8;
    refused(f, "no part 8");
}

static void indices_that_are_no_integers(void **state)
{
    Fixture *f = *state;
    const int x = tensor(f, DT_F32, 2, 4), ids = tensor(f, DT_F32, 2, 1),
              y = tensor(f, DT_F32, 2, 1);
    builder_node(&f->b, OP_embedding, IDS(x), IDS(x, ids));
    refused(f, "ids is f32, not i32");
    builder_node(&f->b, OP_gather, IDS(y), IDS(x, ids));
    refused(f, "ids is f32, not i32");
    builder_node(&f->b, OP_cross_entropy, IDS(y), IDS(x, ids));
    refused(f, "targets is f32, not i32");
}

static void windows_where_none_may_be(void **state)
{
    Fixture *f = *state;
    const int base = tensor(f, DT_F32, 4, 8), x = tensor(f, DT_F32, 4, 4);
    const int window = builder_view(&f->b, "window", base, 2, DIMS(4, 4), 8);
    builder_node(&f->b, OP_softmax, IDS(x), IDS(window));
    refused(f, "gaps");
    const int column = builder_view(&f->b, "column", base, 2, DIMS(4, 1), 8);
    builder_node(&f->b, OP_reduce, IDS(column), IDS(x))->fn = FN_ROW_SUM;
    refused(f, "gaps");
}

static void rotations_that_do_not_fit(void **state)
{
    Fixture *f = *state;
    const int x = tensor(f, DT_F32, 6, 8), table = tensor(f, DT_F32, 3, 2);
    const int full = tensor(f, DT_F32, 3, 8);
    *builder_node(&f->b, OP_rope, IDS(x), IDS(x, table, table)) =
        (NodeAttr){.tokens = 4, .heads = 2};
    refused(f, "4 tokens");
    *builder_node(&f->b, OP_rope, IDS(x), IDS(x, table, table)) =
        (NodeAttr){.tokens = 3, .heads = 3};
    refused(f, "3 heads");
    *builder_node(&f->b, OP_rope, IDS(x), IDS(x, table, table, full, PLAN_NONE)) =
        (NodeAttr){.tokens = 3, .heads = 2};
    refused(f, "full tables");
    *builder_node(&f->b, OP_rope, IDS(x), IDS(x, table, table)) =
        (NodeAttr){.tokens = 3, .heads = 1, .head_dim = 8};
    refused(f, "2 angles turn 4 columns of a head, not 8 of 8");
    *builder_node(&f->b, OP_rotate_pairs, IDS(x), IDS(x)) = (NodeAttr){.head_dim = 4, .rotary = 6};
    refused(f, "no pairs");
    builder_node(&f->b, OP_rotate_pairs, IDS(x), IDS(x))->halves = true;
    refused(f, "halves of which head?");
}

static void positions_that_do_not_fit(void **state)
{
    Fixture *f = *state;
    const int x = tensor(f, DT_F32, 6, 8), table = tensor(f, DT_F32, 5, 8),
              ids = tensor(f, DT_I32, 6, 1), few = tensor(f, DT_F32, 2, 8);
    builder_node(&f->b, OP_embedding, IDS(x), IDS(table, ids, few))->tokens = 3;
    refused(f, "6 rows of 3 tokens do not fit 2 positions");
    builder_node(&f->b, OP_embedding_grad, IDS(table, table), IDS(x, ids))->tokens = 4;
    refused(f, "6 rows of 4 tokens do not fit 5 positions");
    builder_node(&f->b, OP_embedding_grad, IDS(table), IDS(x, ids))->accumulate = true;
    refused(f, "input 2 is what accumulates");
}

static void heads_that_cannot_be_shared(void **state)
{
    Fixture *f = *state;
    const int q = tensor(f, DT_F32, 6, 20), lse = tensor(f, DT_F32, 6, 5);
    const int two = tensor(f, DT_F32, 6, 8), one = tensor(f, DT_F32, 6, 4);
    const int odd = tensor(f, DT_F32, 6, 7), narrow = tensor(f, DT_F32, 6, 10);
    const int64_t square[4] = {2, 5, 3, 3};
    const int scores = builder_tensor(&f->b, "scores", TK_ACTIVATION, DT_F32, 4, square);
    const NodeAttr attr = {.heads = 5, .tokens = 3, .head_dim = 4, .transpose_b = true};
    NodeAttr whole = attr, windowed = attr, negative = attr;
    whole.head_dim = 0;
    windowed.window = 2;
    negative.window = -1;
    negative.causal = true;
    *builder_node(&f->b, OP_attention, IDS(q, lse), IDS(q, two, two)) = attr;
    refused(f, "5 heads of q cannot share the 2 of 't' evenly");
    *builder_node(&f->b, OP_bmm, IDS(scores), IDS(q, two)) = attr;
    refused(f, "5 heads of q cannot share the 2 of 't' evenly");
    *builder_node(&f->b, OP_attention, IDS(q, lse), IDS(q, odd, odd)) = attr;
    refused(f, "not a stack of 5 heads");
    *builder_node(&f->b, OP_attention, IDS(q, lse), IDS(q, one, q)) = attr;
    refused(f, "q is 20 wide, k 4");
    *builder_node(&f->b, OP_attention, IDS(one, lse), IDS(one, one, one)) = attr;
    refused(f, "q is 4 wide, k 4: not 5 heads");
    *builder_node(&f->b, OP_attention, IDS(q, lse), IDS(q, narrow, narrow)) = whole;
    refused(f, "q is 20 wide, k 10");
    *builder_node(&f->b, OP_attention_grad, IDS(q, one, one), IDS(q, q, one, one, one, lse)) = attr;
    refused(f, "q is 20 wide, k 4");
    *builder_node(&f->b, OP_attention, IDS(q, lse), IDS(q, one, one)) = windowed;
    refused(f, "a window of 2 keys needs a causal mask");
    *builder_node(&f->b, OP_bmm, IDS(scores), IDS(q, one)) = negative;
    refused(f, "a window of -1 keys is negative");
    *builder_node(&f->b, OP_attention, IDS(q, lse), IDS(q, one, one)) = attr;
    ASSERT_OK(op_def(OP_attention)->check(&f->plan, &f->plan.nodes[f->plan.n_nodes - 1]));
}

static void a_bias_of_another_width(void **state)
{
    Fixture *f = *state;
    const int x = tensor(f, DT_F32, 4, 4), row = tensor(f, DT_F32, 1, 3),
              column = tensor(f, DT_F32, 4, 1);
    builder_node(&f->b, OP_matmul, IDS(x), IDS(x, x, row));
    refused(f, "a bias of 1x3 for rows of 4");
    builder_node(&f->b, OP_matmul, IDS(x), IDS(x, x, column));
    refused(f, "a bias of 4x1 for rows of 4");
}

/* Memory is planned by operands: one that is read and not named could be another tensor's by then. */
static void a_sum_that_is_not_read(void **state)
{
    Fixture *f = *state;
    const int a = tensor(f, DT_F32, 4, 4), b = tensor(f, DT_F32, 4, 4), c = tensor(f, DT_F32, 4, 4);
    builder_node(&f->b, OP_matmul, IDS(c), IDS(a, b))->accumulate = true;
    refused(f, "input 3 is not its output");
    builder_node(&f->b, OP_matmul, IDS(c), IDS(a, b, PLAN_NONE, a))->accumulate = true;
    refused(f, "input 3 is not its output");
    builder_node(&f->b, OP_matmul, IDS(c), IDS(a, b, PLAN_NONE, c));
    refused(f, "does not accumulate");
}

/* No backend takes the node that was added last. */
static void no_dtype(const Fixture *f, const char *role)
{
    for (int backend = 0; backend < BACKEND_COUNT; backend++) {
        OpImpl impl;
        const Node *node = &f->plan.nodes[f->plan.n_nodes - 1];
        assert_int_equal(op_choose(&f->plan, node, (BackendId)backend, NULL, &impl),
                         ST_UNSUPPORTED);
        assert_non_null(strstr(status_message(), "nothing computes with the dtype of"));
        assert_non_null(strstr(status_message(), role));
    }
}

/* Nothing may read a dtype that it does not know as another one. */
static void a_dtype_that_is_new(void **state)
{
    Fixture *f = *state;
    const int x = tensor(f, DT_F32, 4, 4), y = tensor(f, DT_F32, 4, 4);
    builder_node(&f->b, OP_cast, IDS(y), IDS(x));
    f->plan.tensors[x].dtype = DT_COUNT;
    no_dtype(f, "as storage");
}

/* 8 bits mean nothing without scales, and only fp32 is one. */
static void a_dtype_in_another_role(void **state)
{
    Fixture *f = *state;
    const int x = tensor(f, DT_E4M3, 4, 4), y = tensor(f, DT_F32, 4, 4);
    const int scale = tensor(f, DT_F32, 1, 1);
    builder_node(&f->b, OP_cast, IDS(y), IDS(x));
    no_dtype(f, "as storage");
    builder_node(&f->b, OP_matmul, IDS(y), IDS(x, x));
    no_dtype(f, "as storage");
    builder_node(&f->b, OP_scaled_matmul, IDS(y), IDS(x, x, scale, scale))->transpose_b = true;
    f->plan.tensors[scale].dtype = DT_BF16;
    no_dtype(f, "as scale");
    f->plan.tensors[scale].dtype = DT_F32;
    f->plan.tensors[x].dtype = DT_BF16;
    no_dtype(f, "as operand");
    f->plan.tensors[x].dtype = DT_E4M3;
    OpImpl impl;
    const Node *node = &f->plan.nodes[f->plan.n_nodes - 1];
    assert_int_equal(op_choose(&f->plan, node, BACKEND_cpu, NULL, &impl), ST_OK);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_missing_operand),           CASE(shapes_that_differ),
        CASE(a_function_that_is_none),     CASE(indices_that_are_no_integers),
        CASE(windows_where_none_may_be),   CASE(rotations_that_do_not_fit),
        CASE(a_dtype_that_is_new),         CASE(a_sum_that_is_not_read),
        CASE(heads_that_cannot_be_shared), CASE(a_bias_of_another_width),
        CASE(positions_that_do_not_fit),   CASE(a_dtype_in_another_role),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
