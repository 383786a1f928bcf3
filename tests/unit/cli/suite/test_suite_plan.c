/* The workload of every part follows the time, the memory and the user's model. */
#include "cli/suite/suite_ranks.h"
#include "with_cmocka.h"

#include <math.h>
#include <string.h>

/* Where ranks cannot run, `why` says why. */
static Suite planned_with(double seconds, const char *model, bool gpu, bool bf16, const char *why)
{
    Suite suite = {.folder = "folder", .budget = seconds};
    SuiteRanks ranks = {.gpu = gpu, .threads = gpu ? 0 : 4};
    TimeEstimateRates rates = time_estimate_rates(NULL);
    rates.gpu = gpu;
    rates.bf16 = bf16;
    strcpy(suite.device, "--device cpu");
    strcpy(suite.model, model);
    strcpy(suite.first, model);
    snprintf(ranks.why, sizeof ranks.why, "%s", why);
    assert_int_equal(suite_plan(&suite, &rates, &ranks, seconds), ST_OK);
    assert_true(suite.planned);
    return suite;
}

static Suite planned(double seconds, const char *model, bool gpu, bool bf16)
{
    return planned_with(seconds, model, gpu, bf16, "");
}

/* The workload of a part that its arguments start with: 0 is the largest. */
static int rank_of(const Suite *suite, SuitePartId part, int on)
{
    for (int i = 0, rank = 0; i < suite_parts_n_workloads; i++) {
        const SuiteWorkload *workload = &suite_parts_workloads[i];
        char args[SUITE_ARGS_SIZE];
        if (workload->part != part || !((int)workload->on & on)) continue;
        snprintf(args, sizeof args, "%s %s --device cpu %s", workload->model, workload->rest,
                 suite_ranks_has(part) && on == SUITE_ON_CPU ? " --threads 4" : "");
        if (strcmp(args, suite->parts[part].args) == 0) return rank;
        rank++;
    }
    fail_msg("%s is no workload", suite->parts[part].args);
    return -1;
}

static void more_time_runs_more(void **state)
{
    const Suite brief = planned(1, "", false, true), longer = planned(600, "", false, true);
    const Suite full = planned(INFINITY, "", false, true);
    (void)state;
    for (int part = SUITE_LIMITS + 1; part < SUITE_PARTS; part++) {
        const SuitePartId id = (SuitePartId)part;
        if (id == SUITE_FP8) continue; /* of GPUs alone */
        assert_int_equal(rank_of(&full, id, SUITE_ON_CPU), 0);
        assert_true(rank_of(&longer, id, SUITE_ON_CPU) <= rank_of(&brief, id, SUITE_ON_CPU));
    }
    assert_true(rank_of(&longer, SUITE_BENCH, SUITE_ON_CPU) <
                rank_of(&brief, SUITE_BENCH, SUITE_ON_CPU));
}

static void parts_stay_within_the_budget(void **state)
{
    const Suite suite = planned(600, "", false, true);
    double seconds = 0;
    (void)state;
    for (int part = SUITE_LIMITS + 1; part < SUITE_PARTS; part++)
        seconds += suite.parts[part].expected;
    assert_true(seconds > 0 && seconds <= 600);
}

static void a_gpu_has_its_own_workloads(void **state)
{
    const Suite suite = planned(INFINITY, "", true, true);
    (void)state;
    assert_int_equal(rank_of(&suite, SUITE_ATTENTION, SUITE_ON_GPU), 0);
    assert_null(strstr(suite.parts[SUITE_ATTENTION].args, "fused"));
}

static void the_users_model_replaces_ours(void **state)
{
    const Suite suite = planned(60, "--size medium --ctx 64", false, true);
    (void)state;
    assert_memory_equal(suite.parts[SUITE_BENCH].args, "--size medium --ctx 64 ", 23);
    assert_null(strstr(suite.parts[SUITE_BENCH].args, "tiny"));
    assert_null(strstr(suite.parts[SUITE_ATTENTION].args, "medium")); /* it has no model */
}

static void begins_with(const char *args, const char *expected)
{
    if (strncmp(args, expected, strlen(expected)) != 0) fail_msg("%s, not %s", args, expected);
}

/* Its heads, and contexts up to its positions, as many as an exponent wants. */
static void attention_is_that_of_the_users_model(void **state)
{
    (void)state;
    const Suite gpt2 = planned(INFINITY, "--model gpt2", true, true);
    begins_with(gpt2.parts[SUITE_ATTENTION].args,
                "--d-head 64 --heads 12 --batch 4 --ctx 16,32,64,128,256,1024 --attention ");
    const Suite llama = planned(INFINITY, "--model llama-3.2-1b --batch 2", true, true);
    begins_with(llama.parts[SUITE_ATTENTION].args,
                "--d-head 64 --heads 32 --kv-heads 8 --batch 2 --ctx 64,128,256,1024,4096,8192,");
    const Suite mistral = planned(INFINITY, "--model mistral-7b --ctx 300", true, true);
    begins_with(mistral.parts[SUITE_ATTENTION].args,
                "--d-head 128 --heads 32 --kv-heads 8 --window 4096 --batch 4 --ctx "
                "64,128,256,300,1024,4096,8192,16384 ");
    const Suite brief = planned(1, "--model gpt2", false, true);
    begins_with(brief.parts[SUITE_ATTENTION].args,
                "--d-head 64 --heads 12 --batch 4 --ctx 32,64,128,256 ");
}

/* Its name says neither context nor batch: those of the workload, within its positions. */
static void a_model_of_a_file_has_the_workloads_contexts(void **state)
{
    (void)state;
    const Suite full = planned(INFINITY, "--model gpt2", true, true);
    begins_with(full.parts[SUITE_BENCH].args, "--model gpt2 --ctx 128,256,512 --precision ");
    begins_with(full.parts[SUITE_SIZES].args, "--model gpt2 --ctx 128,256,512 --precision ");
    begins_with(full.parts[SUITE_PROFILE].args, "--model gpt2 --ctx 512 --warmup ");
    const Suite brief = planned(1, "--model gpt2", false, true);
    begins_with(brief.parts[SUITE_BENCH].args, "--model gpt2 --ctx 32,64 --batch 1 --precision ");
    const Suite asked = planned(1, "--model mistral-7b --ctx 300 --batch 2", false, true);
    begins_with(asked.parts[SUITE_BENCH].args,
                "--model mistral-7b --ctx 300 --batch 2 --precision ");
    begins_with(asked.parts[SUITE_MEMORY].args, "--model mistral-7b --ctx 300 --batch 2 ");
}

static void fp16_where_there_is_no_bf16(void **state)
{
    const Suite suite = planned(60, "", true, false);
    (void)state;
    assert_non_null(strstr(suite.parts[SUITE_BENCH].args, "fp32,fp16"));
    assert_null(strstr(suite.parts[SUITE_BENCH].args, "bf16"));
}

static void ranks_are_skipped_where_they_cannot_run(void **state)
{
    (void)state;
    const Suite with = planned(600, "", false, true);
    const Suite without = planned_with(600, "", false, true, "no MPI");
    assert_int_equal(with.parts[SUITE_RANKS].state, SUITE_WAITING);
    assert_int_equal(without.parts[SUITE_BENCH].state, SUITE_WAITING);
    for (int part = SUITE_RANKS; part <= SUITE_RANKS_MEMORY; part++) {
        assert_true(suite_ranks_has((SuitePartId)part));
        assert_int_equal(without.parts[part].state, SUITE_SKIPPED);
        assert_string_equal(without.parts[part].message, "no MPI");
        assert_string_equal(without.parts[part].args, "");
        assert_true(suite_part_is_over(&without.parts[part]));
    }
    assert_false(suite_ranks_has(SUITE_BENCH));
    /* The others have the time of those. */
    assert_true(without.parts[SUITE_BENCH].expected >= with.parts[SUITE_BENCH].expected);
    const Suite gpu = planned(600, "", true, true);
    assert_int_equal(gpu.parts[SUITE_RANKS].state, SUITE_WAITING);
    assert_null(strstr(gpu.parts[SUITE_RANKS].args, "--threads"));
    assert_int_equal(gpu.parts[SUITE_RANKS_PROFILE].state, SUITE_SKIPPED);
}

static void fp8_is_for_gpus(void **state)
{
    (void)state;
    const Suite gpu = planned(600, "", true, true), cpu = planned(600, "", false, true);
    assert_int_equal(gpu.parts[SUITE_FP8].state, SUITE_WAITING);
    assert_non_null(strstr(gpu.parts[SUITE_FP8].args, "--against bf16"));
    assert_int_equal(cpu.parts[SUITE_FP8].state, SUITE_SKIPPED);
    assert_non_null(strstr(cpu.parts[SUITE_FP8].message, "emulated"));
}

static void a_rank_has_a_quarter_of_the_cores(void **state)
{
    (void)state;
    assert_int_equal(suite_ranks_on_cpu(16, 0).threads, 4);
    assert_int_equal(suite_ranks_on_cpu(7, 0).threads, 1);
    assert_int_equal(suite_ranks_on_cpu(16, 2).threads, 2);
    assert_string_equal(suite_ranks_on_cpu(16, 2).why, "");
    assert_string_equal(suite_ranks_on_cpu(3, 0).why,
                        "4 ranks need 4 cores and this process has 3");
    assert_string_equal(suite_ranks_on_cpu(16, 8).why,
                        "4 ranks with --threads 8 need 32 cores and this process has 16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_skipped_where_they_cannot_run),
        cmocka_unit_test(fp8_is_for_gpus),
        cmocka_unit_test(a_rank_has_a_quarter_of_the_cores),
        cmocka_unit_test(more_time_runs_more),
        cmocka_unit_test(parts_stay_within_the_budget),
        cmocka_unit_test(a_gpu_has_its_own_workloads),
        cmocka_unit_test(the_users_model_replaces_ours),
        cmocka_unit_test(attention_is_that_of_the_users_model),
        cmocka_unit_test(a_model_of_a_file_has_the_workloads_contexts),
        cmocka_unit_test(fp16_where_there_is_no_bf16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
