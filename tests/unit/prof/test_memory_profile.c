/* Blocks and their sums, held to the memory plan that they come from. */
#include "exec/binding.h"
#include "model_variants.h"
#include "op_harness.h"
#include "prof/memory_profile.h"
#include "prof/memory_walk.h"

#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    Model model;
    Binding binding;
    MemoryProfile profile;
} Fixture;

static void open_fixture(Fixture *f, const Config *config)
{
    variants_build(&f->model, config);
    ASSERT_OK(binding_make(&f->binding, &f->model.plan, BACKEND_cpu, 2, NULL));
    ASSERT_OK(memory_profile_make(&f->profile, &f->model, &f->binding));
}

static void close_fixture(Fixture *f)
{
    memory_profile_free(&f->profile);
    binding_free(&f->binding);
    model_free(&f->model);
}

/* At every node the blocks alive are the bytes the plan counts, and none lies in another. */
static void check_sums(const Fixture *f)
{
    const MemoryBlocks *list = &f->profile.blocks;
    size_t *live = NULL;
    ASSERT_OK(mem_plan_timeline(&f->binding.mem, &f->model.plan, f->binding.workspace, &live));
    for (int n = 0; n < f->model.plan.n_nodes; n++) {
        size_t want = 0, sum = 0;
        for (int k = 0; k < TK_COUNT; k++) want += live[n * TK_COUNT + k];
        for (int i = 0; i < list->n; i++) {
            if (memory_profile_alive(&list->blocks[i], n)) sum += list->blocks[i].bytes;
        }
        assert_int_equal(sum, want);
        assert_int_equal(memory_profile_at(&f->profile, MEMORY_LATER_STEP, n).total, want);
    }
    free(live);
}

typedef struct Seen {
    size_t live;
    int born, dead;
} Seen;

static void see(void *self, const MemoryBlock *block, bool born)
{
    Seen *seen = self;
    seen->live += born ? block->bytes : 0 - block->bytes;
    *(born ? &seen->born : &seen->dead) += 1;
}

/* Two steps of which only every third node is passed: whoever walks is told of all that was born and died. */
static void check_walk(const Fixture *f)
{
    MemoryWalk walk;
    int begin = 0, end = 0;
    plan_phase_nodes(&f->model.plan, PHASE_FORWARD, &begin, &end);
    memory_walk_begin(&walk, &f->profile.blocks);
    Seen seen = {.live = walk.live};
    for (int step = 0; step < 2; step++) {
        for (int n = begin; n < f->model.plan.n_nodes; n += 3) {
            memory_walk_to(&walk, n, see, &seen);
            assert_int_equal(walk.live, seen.live);
            assert_int_equal(walk.live, memory_profile_at(&f->profile, MEMORY_LATER_STEP, n).total);
            memory_walk_to(&walk, n / 2, see, &seen); /* no way back */
            assert_int_equal(walk.node, n);
        }
        memory_walk_next_step(&walk, see, &seen);
        assert_int_equal(walk.live, seen.live);
        assert_true(seen.born > 0 && seen.born == seen.dead);
    }
}

static void check_apart(const Fixture *f)
{
    const MemoryBlocks *list = &f->profile.blocks;
    for (int i = 0; i < list->n; i++) {
        const MemoryBlock *a = &list->blocks[i];
        assert_true(a->first <= a->last);
        assert_true(a->address + a->bytes <= f->profile.reserved);
        for (int k = 0; k < i; k++) {
            const MemoryBlock *b = &list->blocks[k];
            const bool together = a->first <= b->last && b->first <= a->last;
            const bool overlap =
                a->address < b->address + b->bytes && b->address < a->address + a->bytes;
            assert_false(together && overlap);
        }
    }
}

static void check_variant(const Config *config)
{
    Fixture f;
    open_fixture(&f, config);
    check_sums(&f);
    check_walk(&f);
    check_apart(&f);
    assert_int_equal(f.profile.highest[MEMORY_LATER_STEP].total, f.binding.mem.peak_live);
    const bool train = config->mode == MODE_TRAIN;
    const size_t moments = f.binding.mem.region[TK_MOMENT];
    const MemoryMoment *first = &f.profile.peak[MEMORY_FIRST_STEP][PHASE_FORWARD];
    const MemoryMoment *later = &f.profile.peak[MEMORY_LATER_STEP][PHASE_FORWARD];
    assert_int_equal(later->total - first->total, moments);
    assert_int_equal(f.profile.between.usage[MEMORY_MOMENT], moments);
    assert_int_equal(moments > 0, train);
    assert_int_equal(f.profile.between.usage[MEMORY_GRAD] > 0, config->mode == MODE_FWD_BWD);
    close_fixture(&f);
}

static void test_variants(void **state)
{
    (void)state;
    Config config = variants_config();
    variants_each(&config, check_variant);
}

/* What a block of the fused fp32 model saves, by hand: every row of N tokens keeps ln1, q k v, the result
 * of attention, two residual sums, ln2 and h13, and per row two rstd, per head one lse. */
static void test_saved(void **state)
{
    (void)state;
    Config c = variants_config();
    Fixture f;
    c.model.d_model = 64;
    c.model.d_ff = 128;
    c.batch = 4;
    c.ctx = 64;
    open_fixture(&f, &c);
    const size_t N = 4 * 64, C = 64, F = 128, H = 2;
    assert_int_equal(f.profile.layer.layer, 1);
    assert_int_equal(f.profile.layer.saved, 4 * N * (C + 3 * C + C + 2 * C + C + 2 * F + 2 + H));
    assert_int_equal(f.profile.layer.weight_gradients, 4 * (4 * C * C + 3 * C * F + 2 * C));
    assert_int_equal(f.profile.layer.n_largest, MEMORY_LARGEST);
    assert_int_equal(f.profile.layer.largest[0].bytes, 4 * N * 2 * F);
    assert_int_equal(f.profile.stream, 4 * N * C);
    close_fixture(&f);
}

static void check_masters(Precision precision, size_t of_copy)
{
    Config c = variants_config();
    Fixture f;
    c.precision = precision;
    open_fixture(&f, &c);
    const size_t *usage = f.profile.between.usage;
    assert_int_equal(usage[MEMORY_MASTER] + usage[MEMORY_PARAM], f.binding.mem.region[TK_PARAM]);
    const size_t half = usage[MEMORY_COPY] / 2; /* to the nearest: each is aligned */
    assert_true(half > 0);
    assert_int_equal((usage[MEMORY_MASTER] + half) / usage[MEMORY_COPY], of_copy);
    assert_true(usage[MEMORY_COPY] > 0 && usage[MEMORY_PARAM] > 0);
    close_fixture(&f);
}

/* Four bytes beside two, or the two that the copy lacks. */
static void test_masters(void **state)
{
    (void)state;
    check_masters(PRECISION_FP16, 2);
    check_masters(PRECISION_BF16, 1);
}

static void test_largest(void **state)
{
    (void)state;
    Config c = variants_config();
    Fixture f;
    MemorySaved all[4096], five[5];
    open_fixture(&f, &c);
    const int node = f.profile.highest[MEMORY_LATER_STEP].node;
    const int n = memory_profile_largest(&f.profile, node, all, 4096);
    size_t sum = 0;
    for (int i = 0; i < n; i++) {
        sum += all[i].bytes;
        if (i > 0) assert_true(all[i - 1].bytes >= all[i].bytes);
    }
    assert_int_equal(sum, f.binding.mem.peak_live);
    assert_int_equal(memory_profile_largest(&f.profile, node, five, 5), 5);
    for (int i = 0; i < 5; i++) assert_int_equal(five[i].bytes, all[i].bytes);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_saved),
        cmocka_unit_test(test_masters),
        cmocka_unit_test(test_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
