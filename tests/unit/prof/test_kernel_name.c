#include "prof/kernel_name.h"
#include "with_cmocka.h"

static void test_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"softmax_kernel", "softmax_kernel"},
        {"void softmax_kernel<float, (int)4>(float const*, int)", "softmax_kernel"},
        {"void ns::deep::rope_kernel<(Fn)2>(Args)", "rope_kernel"},
        {"(anonymous namespace)::adamw_kernel(Part*)", "adamw_kernel"},
        {"void (anonymous namespace)::adamw_kernel<true>(Part*)", "adamw_kernel"},
        {"void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm<a::b>>(T1::Params)", "Kernel2"},
        {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
         "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"},
        {"matmul (blas)", "matmul (blas)"},
        {"matmul (own neon): ffn/w13", "matmul (own neon)"},
        {"attention (flash, own neon): attn/attention", "attention (flash, own neon)"},
        {"[CUDA memset]", "[CUDA memset]"},
        {"[CUDA memcpy Host-to-Device]", "[CUDA memcpy Host-to-Device]"},
        {"", ""},
    };
    char text[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kernel_name_short(names[i][0], text, sizeof text);
        assert_string_equal(text, names[i][1]);
    }
    kernel_name_short("softmax_kernel", text, 5);
    assert_string_equal(text, "soft");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
