/* While something travels a node has one thread less: its workspace is enough for that, too. */
#include "exec/binding.h"
#include "exec/step_plan.h"
#include "step_harness.h"

static Config ranked(int threads)
{
    Config c = small_config();
    c.ranks = 2;
    c.parallel = PARALLEL_FSDP;
    c.batch = threads;
    c.model.num_heads = 6;
    c.model.num_kv_heads = 1;
    return c;
}

/* Returns how many would have too little if all threads alone counted. */
static int check_threads(int threads)
{
    Model model;
    Binding binding;
    const Config c = ranked(threads);
    int more = 0;
    ASSERT_OK(step_plan_make(&model, &binding, &c, MODE_TRAIN, BACKEND_cpu, 0, threads));
    for (int i = 0; i < model.plan.n_nodes; i++) {
        const Node *node = &model.plan.nodes[i];
        const OpImpl *impl = &binding.impls[i];
        if (!impl->workspace) continue;
        const size_t fewer = impl->workspace(&model.plan, node, threads - 1);
        more += fewer > impl->workspace(&model.plan, node, threads);
        if (binding.workspace[i] < fewer)
            fail_msg("%d threads, %s: %zu bytes of %zu", threads, node->scope, binding.workspace[i],
                     fewer);
    }
    binding_free(&binding);
    model_free(&model);
    return more;
}

static void test_one_thread_less(void **state)
{
    (void)state;
    int more = 0;
    for (int threads = 2; threads <= 9; threads++) more += check_threads(threads);
    assert_true(more > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_thread_less)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
