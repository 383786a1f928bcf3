/* No node runs while one of the communication queue may use its memory: every pair, looked at one by one. */
#include "exec/node_waits.h"
#include "exec/step_plan.h"
#include "step_harness.h"

typedef struct Bytes {
    int region; /* TK_COUNT: the arena */
    size_t begin, end;
} Bytes;

static Bytes bytes_of(const Binding *binding, int storage)
{
    const Tensor *t = &binding->plan->tensors[storage];
    const size_t begin = binding->mem.offset[storage];
    const int region = plan_kind_persistent(t->kind) ? (int)t->kind : (int)TK_COUNT;
    return (Bytes){region, begin, begin + plan_storage_bytes(t)};
}

static bool overlap(Bytes a, Bytes b)
{
    return a.region == b.region && a.begin < b.end && b.begin < a.end;
}

/* What a node uses: operands, and the workspace as the last one. */
static int list_bytes(const Binding *binding, int n, Bytes *list, int most)
{
    const Plan *plan = binding->plan;
    const Node *node = &plan->nodes[n];
    const size_t at = binding->mem.workspace[n];
    int found = 0;
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int id = plan->operands[node->first + i];
        if (id == PLAN_NONE) continue;
        assert_true(found < most - 1);
        list[found++] = bytes_of(binding, plan_storage(plan, id));
    }
    list[found++] = (Bytes){TK_COUNT, at, at + binding->workspace[n]};
    return found;
}

static bool share(const Binding *binding, int a, int b)
{
    static Bytes of_a[4096], of_b[4096];
    const int n = list_bytes(binding, a, of_a, 4096), m = list_bytes(binding, b, of_b, 4096);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < m; k++) {
            if (overlap(of_a[i], of_b[k])) return true;
        }
    }
    return false;
}

typedef struct Counts {
    int waits, sent, beside; /* nodes that run while something travels */
} Counts;

static Counts check_binding(const Binding *binding)
{
    Counts counts = {0};
    int done = PLAN_NONE;
    for (int n = 0; n < binding->plan->n_nodes; n++) {
        if (binding->plan->nodes[n].queue == QUEUE_COMMUNICATION) {
            assert_int_equal(binding->waits[n], PLAN_NONE);
            counts.sent++;
            continue;
        }
        const int wait = binding->waits[n];
        assert_true(wait < n);
        if (wait != PLAN_NONE) counts.waits++;
        if (wait > done) done = wait;
        bool beside = false;
        for (int c = done + 1; c < n; c++) {
            if (binding->plan->nodes[c].queue != QUEUE_COMMUNICATION) continue;
            beside = true;
            if (share(binding, n, c))
                fail_msg("%s does not wait for %s", binding->plan->nodes[n].scope,
                         binding->plan->nodes[c].scope);
        }
        counts.beside += beside;
    }
    return counts;
}

static Config ranked(Parallel parallel)
{
    Config c = small_config();
    c.ranks = 3;
    c.rank = 1;
    c.parallel = parallel;
    c.bucket = 20000;
    c.model.num_layers = 5;
    return c;
}

static Counts check_config(const Config *c)
{
    Model model;
    Binding binding;
    ASSERT_OK(step_plan_make(&model, &binding, c, MODE_TRAIN, BACKEND_cpu, 0, 2));
    const Counts counts = check_binding(&binding);
    binding_free(&binding);
    model_free(&model);
    return counts;
}

static void test_every_pair(void **state)
{
    (void)state;
    for (int p = 0; p < PARALLEL_COUNT; p++) {
        for (int i = 0; i < 16; i++) {
            Config c = ranked((Parallel)p);
            c.exec = i & 1 ? EXEC_EAGER : EXEC_FUSED;
            c.precision = i & 2 ? PRECISION_BF16 : PRECISION_FP32;
            c.recompute = i & 4 ? CONFIG_RECOMPUTE_BLOCK : CONFIG_RECOMPUTE_NONE;
            c.accumulate = i & 8 ? 2 : 1;
            const Counts counts = check_config(&c);
            const bool queue = p != PARALLEL_DDP_NAIVE && p != PARALLEL_DDP_FLAT;
            assert_int_equal(counts.sent > 0, queue);
            if (queue) assert_true(counts.waits > 0);
        }
    }
}

/* Most of backward runs while gradients travel, and with fsdp most of the forward pass, too. */
static void test_runs_beside(void **state)
{
    (void)state;
    Config c = ranked(PARALLEL_FSDP);
    const Counts fsdp = check_config(&c);
    c.parallel = PARALLEL_DDP_FLAT;
    assert_int_equal(check_config(&c).beside, 0);
    Model model;
    ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
    assert_true(fsdp.beside > model.plan.n_nodes * 3 / 5);
    model_free(&model);
}

/* Two threads never communicate at once: a collective of the first queue comes after all of the second, also
 * where this rank's shard of the last gradient is empty, so that nothing reads it. */
static void test_one_at_a_time(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        Model model;
        Binding binding;
        Config c = ranked(i & 1 ? PARALLEL_FSDP : PARALLEL_ZERO1);
        int sent = PLAN_NONE, done = PLAN_NONE, checked = 0;
        c.rank = 2;
        c.clip = 1;
        c.exec = i & 2 ? EXEC_EAGER : EXEC_FUSED;
        c.precision = i & 4 ? PRECISION_BF16 : PRECISION_FP32;
        c.accumulate = i & 8 ? 2 : 1;
        c.model.d_model = 6;
        c.model.num_heads = 3;
        c.model.vocab = 5;
        ASSERT_OK(step_plan_make(&model, &binding, &c, MODE_TRAIN, BACKEND_cpu, 0, 2));
        for (int n = 0; n < model.plan.n_nodes; n++) {
            const Node *node = &model.plan.nodes[n];
            if (binding.waits[n] > done) done = binding.waits[n];
            if (node->queue == QUEUE_COMMUNICATION) {
                sent = n;
            } else if (plan_op_category(node->op) == CATEGORY_communication) {
                assert_int_equal(done, sent);
                checked++;
            }
        }
        assert_int_equal(checked, 1);
        binding_free(&binding);
        model_free(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_runs_beside),
        cmocka_unit_test(test_one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
