/* Which 8-bit products a GPU takes, how cuBLASLt reads their scales, and where it lacks them: no GPU is
 * asked. */
#include "exec/step_plan.h"
#include "ops/gpu_support.h"
#include "with_cmocka.h"

#include <string.h>

/* Of a [m, k] and b [n, k] with so many scales; the plan is the caller's to free. */
static const Node *scaled(Plan *plan, const int64_t size[3], const int64_t a[2], const int64_t b[2],
                          DType dtype)
{
    Builder builder;
    *plan = (Plan){0};
    builder_init(&builder, plan);
    const int64_t m = size[0], n = size[1], k = size[2];
    const int x = builder_tensor(&builder, "a", TK_ACTIVATION, DT_E4M3, DIMS(m, k));
    const int w = builder_tensor(&builder, "b", TK_ACTIVATION, DT_E4M3, DIMS(n, k));
    const int of_x = builder_tensor(&builder, "scale", TK_ACTIVATION, DT_F32, DIMS(a[0], a[1]));
    const int of_w = builder_tensor(&builder, "scale", TK_ACTIVATION, DT_F32, DIMS(b[0], b[1]));
    const int y = builder_tensor(&builder, "c", TK_ACTIVATION, dtype, DIMS(m, n));
    const int bias = builder_tensor(&builder, "bias", TK_ACTIVATION, dtype, DIMS(n));
    builder_node(&builder, OP_scaled_matmul, IDS(y), IDS(x, w, of_x, of_w, bias))->transpose_b =
        true;
    assert_int_equal(builder.status, ST_OK);
    builder_free(&builder);
    return &plan->nodes[0];
}

/* Scales of blocks that are not in cuBLASLt's order are moved: transposed, or rows a multiple of 4 apart. */
static void test_scales(void **state)
{
    (void)state;
    static const struct {
        int64_t size[3], a[2], b[2];
        GpuSupportScales of_a, of_b;
        size_t moved;
    } cases[] = {
        {{256, 144, 640}, {1, 1}, {1, 1}, GPU_SUPPORT_SCALES_TENSOR, GPU_SUPPORT_SCALES_TENSOR, 0},
        {{256, 144, 640}, {256, 1}, {144, 1}, GPU_SUPPORT_SCALES_ROWS, GPU_SUPPORT_SCALES_ROWS, 0},
        {{256, 144, 640},
         {256, 5},
         {2, 5},
         GPU_SUPPORT_SCALES_BLOCKS,
         GPU_SUPPORT_SCALES_SQUARES,
         4 * 256 * 5 + 256},
        {{256, 144, 640},
         {256, 5},
         {144, 5},
         GPU_SUPPORT_SCALES_BLOCKS,
         GPU_SUPPORT_SCALES_BLOCKS,
         4 * 256 * 5 + 3072},
        {{256, 144, 512},
         {2, 4},
         {144, 4},
         GPU_SUPPORT_SCALES_SQUARES,
         GPU_SUPPORT_SCALES_BLOCKS,
         4 * 144 * 4},
        {{256, 144, 128},
         {256, 1},
         {2, 1},
         GPU_SUPPORT_SCALES_BLOCKS,
         GPU_SUPPORT_SCALES_SQUARES,
         256},
        {{16, 32, 48}, {1, 1}, {32, 1}, GPU_SUPPORT_SCALES_SQUARES, GPU_SUPPORT_SCALES_BLOCKS, 256},
        {{256, 144, 640}, {2, 5}, {2, 5}, GPU_SUPPORT_SCALES_NONE, GPU_SUPPORT_SCALES_NONE, 0},
        {{256, 144, 640}, {256, 1}, {1, 1}, GPU_SUPPORT_SCALES_NONE, GPU_SUPPORT_SCALES_NONE, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Plan plan;
        const Node *node = scaled(&plan, cases[i].size, cases[i].a, cases[i].b, DT_BF16);
        const GpuSupportScalePair pair = gpu_support_fp8_pair(&plan, node);
        assert_int_equal(pair.a, cases[i].of_a);
        assert_int_equal(pair.b, cases[i].of_b);
        assert_int_equal(gpu_support_fp8_workspace_scaled_matmul(&plan, node, 1),
                         (32 << 20) + cases[i].moved);
        plan_free(&plan);
    }
}

static void test_products_that_are_taken(void **state)
{
    (void)state;
    static const int64_t one[] = {1, 1}, rows[] = {48, 1}, whole[] = {48, 32, 256};
    static const int64_t odd[][3] = {{50, 32, 256}, {48, 33, 256}, {48, 32, 264}};
    Plan plan;
    assert_null(
        gpu_support_fp8_declines_scaled_matmul(&plan, scaled(&plan, whole, one, one, DT_BF16)));
    plan_free(&plan);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        assert_non_null(gpu_support_fp8_declines_scaled_matmul(
            &plan, scaled(&plan, odd[i], one, one, DT_BF16)));
        plan_free(&plan);
    }
    const char *why =
        gpu_support_fp8_declines_scaled_matmul(&plan, scaled(&plan, whole, one, one, DT_F32));
    assert_non_null(strstr(why, "bias"));
    plan_free(&plan);
    why = gpu_support_fp8_declines_scaled_matmul(&plan, scaled(&plan, whole, rows, one, DT_BF16));
    assert_non_null(strstr(why, "pair of scales"));
    plan_free(&plan);
    const GpuSupportScalePair by_row = {GPU_SUPPORT_SCALES_ROWS, GPU_SUPPORT_SCALES_ROWS};
    assert_null(gpu_support_fp8_library_lacks(by_row, 120900));
    assert_non_null(strstr(gpu_support_fp8_library_lacks(by_row, 120803), "12.9"));
    assert_null(gpu_support_fp8_library_lacks((GpuSupportScalePair){0}, 120100));
}

static Config small(Fp8Recipe recipe)
{
    Config c;
    config_defaults(&c);
    c.model.num_layers = 1;
    c.model.num_heads = 2;
    c.model.d_model = 128;
    c.model.d_ff = 32;
    c.model.vocab = 100;
    c.ctx = 96;
    c.batch = 3;
    c.precision = PRECISION_FP8;
    c.fp8_recipe = recipe;
    return c;
}

/* The products of a block, with every recipe, by the library that has them. */
static void test_recipes_are_planned(void **state)
{
    (void)state;
    for (int i = 0; i < FP8_RECIPE_COUNT * EXEC_COUNT; i++) {
        Config c = small((Fp8Recipe)(i % FP8_RECIPE_COUNT));
        Model model;
        Binding binding;
        int products = 0;
        c.exec = (Exec)(i / FP8_RECIPE_COUNT);
        assert_int_equal(step_plan_make(&model, &binding, &c, c.mode, BACKEND_cuda, 90, 1), ST_OK);
        for (int n = 0; n < model.plan.n_nodes; n++) {
            if (model.plan.nodes[n].op != OP_scaled_matmul) continue;
            assert_string_equal(binding.impls[n].name, "cublaslt");
            products++;
        }
        assert_int_equal(products, 3 * (c.exec == EXEC_EAGER ? 7 : 4));
        binding_free(&binding);
        model_free(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_products_that_are_taken),
        cmocka_unit_test(test_recipes_are_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
