#include "backend/cpu_features.h"
#include "backend/cpu_info.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>

static void hide(const char *words)
{
    assert_int_equal(setenv("ROOFSTEP_CPU_HIDE", words, 1), 0);
}

static void test_unknown(void **state)
{
    (void)state;
    hide("");
    assert_false(cpu_features_has("no such thing"));
    assert_false(cpu_features_has(""));
}

/* What kernels ask for, on every architecture. */
static const char *const words[] = {"asimd",       "bf16",     "avx2",     "fma",
                                    "f16c",        "avx512f",  "avx512bw", "avx512vl",
                                    "avx512_bf16", "amx_tile", "amx_bf16"};
enum { N_WORDS = sizeof words / sizeof *words };

/* The kernel's own words, from another place; what it lists may still be kept from programs. */
static void test_as_cpuinfo(void **state)
{
    (void)state;
    CpuInfo info;
    hide("");
    assert_int_equal(cpu_info_read(&info, ""), ST_OK);
    for (int i = 0; i < N_WORDS; i++) {
        if (cpu_features_has(words[i]) && !cpu_info_has(&info, words[i]))
            fail_msg("%s is not in /proc/cpuinfo", words[i]);
    }
}

/* The answer is the same when it is asked again. */
static void test_hidden(void **state)
{
    (void)state;
    for (int i = 0; i < N_WORDS; i++) {
        hide("");
        if (!cpu_features_has(words[i])) continue;
        hide(words[i]);
        assert_false(cpu_features_has(words[i]));
        hide("other,all");
        assert_false(cpu_features_has(words[i]));
        hide("xasimd,asim,,avx,x");
        assert_true(cpu_features_has(words[i]));
    }
}

/* All of several words, or not at all. */
static void test_several(void **state)
{
    (void)state;
    for (int i = 0; i < N_WORDS; i++) {
        char twice[64], and_more[64];
        hide("");
        snprintf(twice, sizeof twice, "%s,%s", words[i], words[i]);
        snprintf(and_more, sizeof and_more, "%s,nonsense", words[i]);
        assert_int_equal(cpu_features_has(twice), cpu_features_has(words[i]));
        assert_false(cpu_features_has(and_more));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown), cmocka_unit_test(test_as_cpuinfo),
        cmocka_unit_test(test_hidden), cmocka_unit_test(test_several)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
