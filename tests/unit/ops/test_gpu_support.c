/* What is planned for a GPU is what runs there: the lists that every build has are those of the
 * CUDA build, and workspaces are as large as kernels index. */
#include "bench/limits/placement.h"
#include "exec/step_plan.h"
#include "ops/flash_tiles.h"
#include "ops/gpu_support.h"
#include "with_cmocka.h"

#include <string.h>

static bool without_cudnn(const OpImpl *impl)
{
    return strcmp(impl->name, "cudnn") == 0 && !impl->run;
}

/* Kernels come from one list (ops/gpu_kernels.def), those with libraries from two. */
static void test_lists_are_those_of_cuda(void **state)
{
    (void)state;
    static const struct {
        OpKind op;
        const OpImpl *planned;
    } lists[] = {{OP_matmul, gpu_support_matmul},
                 {OP_scaled_matmul, gpu_support_scaled_matmul},
                 {OP_bmm, gpu_support_bmm},
                 {OP_attention, gpu_support_attention},
                 {OP_attention_grad, gpu_support_attention_grad}};
    const bool absent = backend_api(BACKEND_cuda)->absent;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const OpImpl *plan = lists[i].planned, *run = op_impls(lists[i].op, BACKEND_cuda);
        for (; plan->name && run->name; plan++, run++) {
            assert_string_equal(plan->name, run->name);
            assert_null(plan->run);
            if (without_cudnn(run) && !absent) continue; /* built without it */
            if (plan->declines != run->declines || plan->workspace != run->workspace ||
                plan->nondeterministic != run->nondeterministic)
                fail_msg("%s: planned otherwise than it runs", plan->name);
        }
        assert_null(plan->name);
        assert_null(run->name);
    }
}

static void test_every_op_has_an_implementation(void **state)
{
    (void)state;
    const bool absent = backend_api(BACKEND_cuda)->absent;
    for (int op = 0; op < OP_COUNT; op++) {
        const OpImpl *impl = op_impls((OpKind)op, BACKEND_cuda);
        assert_non_null(impl->name);
        for (; impl->name; impl++) {
            if (!absent && without_cudnn(impl)) continue;
            assert_true(absent == !impl->run);
        }
    }
}

/* ---- workspaces, by the formulas of the kernels ---- */

static size_t workspace_of(const Config *config, OpKind op)
{
    Model model;
    Binding binding;
    size_t most = 0;
    assert_int_equal(step_plan_make(&model, &binding, config, config->mode, BACKEND_cuda, 90, 1),
                     ST_OK);
    for (int i = 0; i < model.plan.n_nodes; i++) {
        if (model.plan.nodes[i].op == op && binding.workspace[i] > most)
            most = binding.workspace[i];
    }
    binding_free(&binding);
    model_free(&model);
    return most;
}

static Config small(Precision precision, Attention attention, int64_t width)
{
    Config c;
    config_defaults(&c);
    c.model.num_layers = 1;
    c.model.num_heads = 2;
    c.model.d_model = 2 * width;
    c.model.d_ff = 32;
    c.model.vocab = 100;
    c.ctx = 100;
    c.batch = 3;
    c.precision = precision;
    c.attention = attention;
    return c;
}

/* 6 heads of 100 tokens: tiles of dq, a row each of delta, a counter of every tile and one more. */
static void test_flash(void **state)
{
    (void)state;
    static const struct {
        Precision precision;
        int64_t width, held, queries, slices;
    } cases[] = {{PRECISION_BF16, 64, 64, 64, 1},   {PRECISION_BF16, 80, 128, 64, 1},
                 {PRECISION_FP16, 256, 256, 32, 2}, {PRECISION_TF32, 128, 128, 32, 1},
                 {PRECISION_FP32, 16, 32, 64, 1},   {PRECISION_FP32, 512, 512, 16, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Config c = small(cases[i].precision, ATTENTION_FLASH, cases[i].width);
        const int64_t q = cases[i].queries, rows = (100 + q - 1) / q * q;
        const int64_t tiles = 6 * cases[i].slices * (rows / q);
        assert_int_equal(workspace_of(&c, OP_attention_grad),
                         4 * (6 * rows * cases[i].held + 6 * 100) + 4 * (tiles + 1));
    }
}

static void test_libraries(void **state)
{
    (void)state;
    const Config c = small(PRECISION_BF16, ATTENTION_CUDNN, 64);
    if (!without_cudnn(&op_impls(OP_attention, BACKEND_cuda)[0]) ||
        backend_api(BACKEND_cuda)->absent) {
        assert_int_equal(workspace_of(&c, OP_attention), 1 << 20);
        /* 600 rows of sums in pieces of 256 bytes, and dq of 300 tokens in fp32 */
        assert_int_equal(workspace_of(&c, OP_attention_grad), (1 << 20) + 2560 + 4 * 300 * 128);
    }
    assert_int_equal(workspace_of(&c, OP_matmul), 32 << 20);
}

static void test_own_kernels(void **state)
{
    (void)state;
    Config c = small(PRECISION_FP32, ATTENTION_FLASH, 64);
    c.clip = 1;
    assert_int_equal(workspace_of(&c, OP_cross_entropy), 4 * 300);
    assert_int_equal(workspace_of(&c, OP_embedding_grad), 8 * 300);
    assert_int_equal(workspace_of(&c, OP_rmsnorm_grad), 4 * 300 * 128);
    assert_int_equal(workspace_of(&c, OP_grad_norm), 8 * 1024);
    c.ctx = 9000;
    c.batch = 1;
    assert_int_equal(workspace_of(&c, OP_embedding_grad), 8 * 8192);
    assert_int_equal(workspace_of(&c, OP_rmsnorm_grad), 4 * 512 * 128);
}

/* ---- heads that share keys and values, and windows ---- */

typedef struct Grouped {
    int64_t B, H, kv_heads, T, D, window;
    double scale;
    DType dtype;
} Grouped;

/* The gradient of an attention with these heads. */
static void grouped_grad(Plan *plan, const Grouped *g)
{
    Builder b;
    *plan = (Plan){0};
    builder_init(&b, plan);
    const int64_t rows = g->B * g->T,
                  width[3] = {g->H * g->D, g->kv_heads * g->D, g->kv_heads * g->D};
    int in[3], d[3];
    for (int i = 0; i < 3; i++) {
        in[i] = builder_tensor(&b, "in", TK_ACTIVATION, g->dtype, DIMS(rows, width[i]));
        d[i] = builder_like(&b, "gradient", in[i], g->dtype);
    }
    const int out = builder_like(&b, "out", in[0], g->dtype);
    const int dout = builder_like(&b, "dout", in[0], g->dtype);
    const int lse = builder_tensor(&b, "lse", TK_ACTIVATION, DT_F32, DIMS(g->B, g->H, g->T));
    *builder_node(&b, OP_attention_grad, IDS(d[0], d[1], d[2]),
                  IDS(dout, in[0], in[1], in[2], out, lse)) = (NodeAttr){.causal = true,
                                                                         .tokens = g->T,
                                                                         .heads = g->H,
                                                                         .head_dim = g->D,
                                                                         .window = g->window,
                                                                         .scale = g->scale};
    assert_int_equal(b.status, ST_OK);
    builder_free(&b);
}

static const char *declined(const Grouped *g, const char *(*declines)(const Plan *, const Node *))
{
    Plan plan;
    grouped_grad(&plan, g);
    const char *why = declines(&plan, &plan.nodes[0]);
    plan_free(&plan);
    return why;
}

static size_t workspace(const Grouped *g, size_t (*bytes)(const Plan *, const Node *, int))
{
    Plan plan;
    grouped_grad(&plan, g);
    const size_t size = bytes(&plan, &plan.nodes[0], 1);
    plan_free(&plan);
    return size;
}

/* 2 x 6 heads of 200 tokens share 4: beside dq (4 tiles of 64 queries a head) dk and dv of 2 blocks of
 * 128 keys for each of them. */
static void test_grouped_workspace(void **state)
{
    (void)state;
    const Grouped g = {2, 6, 2, 200, 48, 0, 0.1, DT_BF16};
    const size_t tiles = 12 * 4, blocks = 4 * 2, rows = 12 * 200;
    assert_int_equal(workspace(&g, gpu_support_attention_workspace_flash_grad),
                     4 * (tiles * 64 * 64 + blocks * 2 * 128 * 64 + rows) +
                         4 * (tiles + blocks + 1));
    /* cuDNN: dk and dv of every head of q */
    assert_int_equal(workspace(&g, gpu_support_attention_workspace_cudnn_grad),
                     (1 << 20) + 4 * 2 * rows * 48 + (4 * rows + 255) / 256 * 256 + 4 * rows * 48);
}

static void test_windows_that_are_taken(void **state)
{
    (void)state;
    Grouped g = {2, 6, 2, 200, 48, 17, 0.1, DT_BF16};
    assert_null(declined(&g, gpu_support_attention_declines_flash_grad));
    assert_null(declined(&g, gpu_support_attention_declines_cudnn_grad));
    g.scale = 3;
    assert_non_null(declined(&g, gpu_support_attention_declines_flash_grad));
    assert_null(declined(&g, gpu_support_attention_declines_cudnn_grad));
    g.window = 200; /* all keys */
    assert_null(declined(&g, gpu_support_attention_declines_flash_grad));
    g.D = 44;
    assert_non_null(declined(&g, gpu_support_attention_declines_cudnn_grad));
}

static void test_window_of_heads(void **state)
{
    (void)state;
    static const struct {
        int64_t window, seen;
    } cases[] = {{0, 200}, {1, 1}, {199, 199}, {200, 200}, {4096, 200}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Grouped g = {2, 6, 2, 200, 48, cases[i].window, 0.1, DT_F32};
        Plan plan;
        grouped_grad(&plan, &g);
        const GpuSupportHeads h = gpu_support_attention_heads(&plan, &plan.nodes[0], 1);
        assert_int_equal(h.window, cases[i].seen);
        assert_int_equal(h.group, 3);
        assert_int_equal(h.B, 2);
        assert_int_equal(h.D, 48);
        plan_free(&plan);
    }
}

/* Sums over the heads of a group, in fp32 beside a 16-bit result. */
static void test_bmm_sums(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        Plan plan = {0};
        Builder b;
        const DType dtype = i ? DT_F32 : DT_BF16;
        builder_init(&b, &plan);
        const int p = builder_tensor(&b, "p", TK_ACTIVATION, dtype, DIMS(2, 6, 8, 8));
        const int dout = builder_tensor(&b, "dout", TK_ACTIVATION, dtype, DIMS(16, 6 * 40));
        const int dv = builder_tensor(&b, "dv", TK_ACTIVATION, dtype, DIMS(16, 2 * 40));
        *builder_node(&b, OP_bmm, IDS(dv), IDS(p, dout)) =
            (NodeAttr){.tokens = 8, .heads = 6, .head_dim = 40, .transpose_a = true, .scale = 1};
        assert_int_equal(gpu_support_workspace_bmm(&plan, &plan.nodes[0], 1),
                         (32 << 20) + (i ? 0 : 4 * 16 * 2 * 40));
        builder_free(&b);
        plan_free(&plan);
    }
}

/* Every option of a model can be planned for a GPU in every build, or says why not. */
static void test_every_cell_is_planned(void **state)
{
    (void)state;
    for (int p = 0; p < PRECISION_COUNT; p++) {
        for (int a = 0; a < ATTENTION_COUNT; a++) {
            for (int e = 0; e < EXEC_COUNT; e++) {
                Config c = small((Precision)p, (Attention)a, 64);
                Model model;
                Binding binding;
                c.exec = (Exec)e;
                const Status status =
                    step_plan_make(&model, &binding, &c, c.mode, BACKEND_cuda, 90, 1);
                if (status == ST_OK) {
                    assert_true(mem_plan_total(&binding.mem) > 0);
                    binding_free(&binding);
                    model_free(&model);
                } else {
                    assert_int_equal(status, ST_UNSUPPORTED);
                    assert_int_equal(a, ATTENTION_CUDNN);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_are_those_of_cuda),
        cmocka_unit_test(test_every_op_has_an_implementation),
        cmocka_unit_test(test_flash),
        cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_own_kernels),
        cmocka_unit_test(test_grouped_workspace),
        cmocka_unit_test(test_windows_that_are_taken),
        cmocka_unit_test(test_window_of_heads),
        cmocka_unit_test(test_bmm_sums),
        cmocka_unit_test(test_every_cell_is_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
