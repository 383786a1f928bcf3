/* What a GPU lacks, by its compute capability; no GPU is asked. */
#include "bench/limits/placement.h"
#include "exec/step_plan.h"
#include "with_cmocka.h"

#include <string.h>

static Config asking(Precision precision, Attention attention)
{
    Config c;
    config_defaults(&c);
    c.precision = precision;
    c.attention = attention;
    return c;
}

static void expect(int capability, Precision precision, Attention attention, const char *instead)
{
    const Config c = asking(precision, attention);
    const Status status = placement_check_gpu(&c, capability);
    if (!instead) {
        assert_int_equal(status, ST_OK);
        return;
    }
    assert_int_equal(status, ST_UNSUPPORTED);
    const char *use = strstr(status_message(), ": use ");
    if (!use || strcmp(use + strlen(": use "), instead) != 0) fail_msg("%s", status_message());
}

static void test_pascal(void **state)
{
    (void)state;
    expect(60, PRECISION_FP32, ATTENTION_AUTO, NULL);
    expect(60, PRECISION_FP16, ATTENTION_AUTO, NULL);
    expect(60, PRECISION_TF32, ATTENTION_AUTO, "fp32 or fp16");
    expect(60, PRECISION_BF16, ATTENTION_AUTO, "fp16 or fp32");
    expect(50, PRECISION_FP16, ATTENTION_AUTO, "fp32");
}

static void test_turing(void **state)
{
    (void)state;
    expect(75, PRECISION_FP32, ATTENTION_FUSED, NULL);
    expect(75, PRECISION_FP16, ATTENTION_AUTO, NULL);
    expect(75, PRECISION_FP16, ATTENTION_CUDNN, "--attention fused");
    expect(75, PRECISION_TF32, ATTENTION_AUTO, "fp32 or fp16");
    expect(75, PRECISION_BF16, ATTENTION_AUTO, "fp16 or fp32");
    assert_string_equal(status_message(),
                        "bf16 needs a GPU of compute capability 8.0, and this one has 7.5: "
                        "use fp16 or fp32");
}

static void test_fp8(void **state)
{
    (void)state;
    expect(80, PRECISION_FP8, ATTENTION_AUTO, "bf16");
    assert_string_equal(
        status_message(),
        "fp8 needs a GPU of compute capability 8.9, and this one has 8.0: use bf16");
    expect(89, PRECISION_FP8, ATTENTION_AUTO, NULL);
    expect(90, PRECISION_FP8, ATTENTION_AUTO, NULL);
}

/* One scale a tensor runs on every chip with tensor cores for 8 bits, others on one alone. */
static void test_fp8_recipes(void **state)
{
    (void)state;
    static const int capabilities[] = {0, 89, 90, 100, 120};
    for (int recipe = 0; recipe < FP8_RECIPE_COUNT; recipe++) {
        for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
            Config c = asking(PRECISION_FP8, ATTENTION_AUTO);
            c.fp8_recipe = (Fp8Recipe)recipe;
            const bool whole = recipe == FP8_RECIPE_CURRENT || recipe == FP8_RECIPE_DELAYED;
            const bool runs = whole || capabilities[i] == 90 || capabilities[i] == 0;
            assert_int_equal(placement_check_gpu(&c, capabilities[i]),
                             runs ? ST_OK : ST_UNSUPPORTED);
            c.precision = PRECISION_BF16;
            assert_int_equal(placement_check_gpu(&c, capabilities[i]), ST_OK);
        }
    }
    Config c = asking(PRECISION_FP8, ATTENTION_AUTO);
    c.fp8_recipe = FP8_RECIPE_BLOCK;
    assert_int_equal(placement_check_gpu(&c, 89), ST_UNSUPPORTED);
    assert_string_equal(status_message(),
                        "--fp8-recipe block needs a GPU of compute capability 9.0, and this one "
                        "has 8.9: use --fp8-recipe current or delayed");
}

/* On a GPU it is timed; on a CPU it is emulated: for its numbers, not for its time. Refused by words that
 * say what to do. */
static void test_fp8_elsewhere(void **state)
{
    (void)state;
    Config c = asking(PRECISION_FP8, ATTENTION_AUTO);
    Placement p;
    strcpy(c.device, "cuda:999");
    assert_int_equal(placement_of(&c, &p), ST_OK);
    assert_int_equal(placement_check_timed(&c, &p), ST_OK);
    strcpy(c.device, "cpu");
    assert_int_equal(placement_of(&c, &p), ST_OK);
    assert_int_equal(placement_check_timed(&c, &p), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "emulated"));
    c.precision = PRECISION_BF16;
    assert_int_equal(placement_check_timed(&c, &p), ST_OK);
    c.precision = PRECISION_FP8;
    c.ranks = 2;
    assert_int_equal(placement_of(&c, &p), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "--ranks 1"));
    config_attention_defaults(&c);
    strcpy(c.device, "cpu");
    c.precision = PRECISION_FP8;
    assert_int_equal(placement_of(&c, &p), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "attention alone"));
}

/* Also where there is no GPU to ask: a plan for one can be made anywhere. */
static void test_everything(void **state)
{
    (void)state;
    static const int capabilities[] = {80, 90, 100, 120, 0};
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        for (int p = 0; p < PRECISION_FP8; p++) {
            expect(capabilities[i], (Precision)p, ATTENTION_AUTO, NULL);
            expect(capabilities[i], (Precision)p, ATTENTION_CUDNN, NULL);
        }
    }
}

static Attention chosen(int capability)
{
    const Config c = asking(PRECISION_FP16, ATTENTION_AUTO);
    Model model;
    Binding binding;
    assert_int_equal(step_plan_make(&model, &binding, &c, MODE_TRAIN, BACKEND_cuda, capability, 1),
                     ST_OK);
    const Attention attention = model.attention;
    binding_free(&binding);
    model_free(&model);
    return attention;
}

/* A build with CUDA and without cuDNN has one choice everywhere. */
static void test_attention_of_old_chips(void **state)
{
    (void)state;
    assert_int_equal(chosen(60), ATTENTION_FUSED);
    assert_int_equal(chosen(75), ATTENTION_FUSED);
    assert_int_equal(chosen(90), chosen(0));
    assert_int_equal(chosen(80), chosen(90));
}

static void test_no_such_gpu(void **state)
{
    (void)state;
    Placement place;
    Config c = asking(PRECISION_FP32, ATTENTION_AUTO);
    assert_int_equal(backend_api(BACKEND_cuda)->capability(1000), 0);
    strcpy(c.device, "cuda:999");
    assert_int_equal(placement_of(&c, &place), ST_OK);
    assert_false(place.here);
    assert_int_equal(place.backend, BACKEND_cuda);
    assert_string_equal(place.name, "cuda:999");
    assert_int_equal(placement_find(&c, &place), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "cuda:999"));
}

/* The machine that limits are of: no device is asked, and what its chip lacks is said. */
static void test_elsewhere(void **state)
{
    (void)state;
    Placement place;
    Limits gpu = {.key = {.gpu = "Tesla T4"}, .capability = 75};
    Limits cpu = {.key = {.cpu = "Some CPU", .threads = 12}};
    Config c = asking(PRECISION_FP16, ATTENTION_AUTO);
    assert_int_equal(placement_on(&c, &gpu, &place), ST_OK);
    assert_int_equal(place.backend, BACKEND_cuda);
    assert_int_equal(place.capability, 75);
    assert_false(place.here);
    assert_int_equal(placement_on(&c, &cpu, &place), ST_OK);
    assert_int_equal(place.backend, BACKEND_cpu);
    assert_int_equal(place.threads, 12);
    assert_false(place.here);
    c.threads = 3;
    assert_int_equal(placement_on(&c, &cpu, &place), ST_OK);
    assert_int_equal(place.threads, 3);
    c.precision = PRECISION_BF16;
    assert_int_equal(placement_on(&c, &gpu, &place), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "this one has 7.5"));
    c.precision = PRECISION_TF32;
    assert_int_equal(placement_on(&c, &cpu, &place), ST_UNSUPPORTED);
    c.precision = PRECISION_FP32;
    strcpy(c.device, "cuda:1");
    assert_int_equal(placement_on(&c, &cpu, &place), ST_USAGE);
    assert_non_null(strstr(status_message(), "Some CPU, 12 threads"));
    strcpy(c.device, "cpu");
    assert_int_equal(placement_on(&c, &gpu, &place), ST_USAGE);
    assert_non_null(strstr(status_message(), "Tesla T4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pascal),
        cmocka_unit_test(test_turing),
        cmocka_unit_test(test_fp8),
        cmocka_unit_test(test_fp8_elsewhere),
        cmocka_unit_test(test_fp8_recipes),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_attention_of_old_chips),
        cmocka_unit_test(test_no_such_gpu),
        cmocka_unit_test(test_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
