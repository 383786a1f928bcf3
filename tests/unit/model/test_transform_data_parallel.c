/* What ranks send each other, by the plan. */
#include "model/model.h"
#include "model/step_cost.h"
#include "step_harness.h"

enum { RANKS = 3 };

static Config ranked_config(Parallel parallel, Precision precision)
{
    Config c = small_config();
    c.ranks = RANKS;
    c.parallel = parallel;
    c.precision = precision;
    c.bucket = 20000;
    c.model.num_layers = 5;
    return c;
}

static bool is_sent(const Node *node)
{
    return node->op == OP_all_reduce;
}

/* Is the tensor, a window maybe, part of what the node sends? */
static bool sends(const Plan *plan, const Node *node, int tensor)
{
    const Tensor *sent = plan_out(plan, node, 0), *t = &plan->tensors[tensor];
    const int id = plan_out_id(plan, node, 0);
    if (plan_storage(plan, id) != plan_storage(plan, tensor)) return false;
    return t->offset >= sent->offset &&
           t->offset + plan_elements(t) <= sent->offset + plan_elements(sent);
}

static bool writes(const Plan *plan, const Node *node, int tensor)
{
    for (int i = 0; i < node->n_out; i++) {
        const int id = plan_out_id(plan, node, i);
        if (id == PLAN_NONE || plan_storage(plan, id) != plan_storage(plan, tensor)) continue;
        const Tensor *a = &plan->tensors[id], *b = &plan->tensors[tensor];
        if (a->offset < b->offset + plan_elements(b) && b->offset < a->offset + plan_elements(a))
            return true;
    }
    return false;
}

/* Once, after the last node that writes it and before the optimizer. */
static void check_parameter(const Model *model, const Param *param)
{
    const Plan *plan = &model->plan;
    int sent = 0;
    bool whole = true;
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        if (is_sent(node) && sends(plan, node, param->grad)) {
            assert_true(node->phase == PHASE_FORWARD || node->phase == PHASE_BACKWARD);
            assert_true(node->attr.scale == 1.0 / RANKS);
            sent++;
        } else if (writes(plan, node, param->grad) && !is_sent(node)) {
            whole = whole && sent == 0;
        }
    }
    if (sent != 1 || !whole) fail_msg("%s: sent %d times, whole: %d", param->name, sent, whole);
}

static int count_sent(const Model *model)
{
    int n = 0;
    for (int i = 0; i < model->plan.n_nodes; i++) n += is_sent(&model->plan.nodes[i]);
    return n;
}

static void test_every_gradient_once(void **state)
{
    (void)state;
    for (int p = 0; p <= PARALLEL_DDP_FLAT; p++) {
        for (int precision = 0; precision < PRECISION_COUNT; precision++) {
            for (int exec = EXEC_EAGER; exec <= EXEC_FUSED; exec++) {
                Config c = ranked_config((Parallel)p, (Precision)precision);
                Model model;
                c.exec = (Exec)exec;
                c.accumulate = 1 + precision % 2;
                c.head_rows = precision == PRECISION_BF16 ? 16 : CONFIG_HEAD_AUTO;
                c.model.tied = precision == PRECISION_BF16;
                ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
                for (int i = 0; i < model.n_params; i++) check_parameter(&model, &model.params[i]);
                model_free(&model);
            }
        }
    }
}

/* One for each parameter, one for each dtype, or buckets. */
static void test_how_many(void **state)
{
    (void)state;
    Model model;
    Config c = ranked_config(PARALLEL_DDP_NAIVE, PRECISION_FP32);
    ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
    assert_int_equal(count_sent(&model), model.n_params);
    model_free(&model);
    c = ranked_config(PARALLEL_DDP_FLAT, PRECISION_FP32);
    ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
    assert_int_equal(count_sent(&model), 1);
    model_free(&model);
    c = ranked_config(PARALLEL_DDP_FLAT, PRECISION_BF16); /* gradients of norms are fp32 */
    ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
    assert_int_equal(count_sent(&model), 2);
    model_free(&model);
}

/* Buckets are full, but for the last of each dtype, and all but the last leave during backward. */
static void test_buckets(void **state)
{
    (void)state;
    const Config c = ranked_config(PARALLEL_DDP, PRECISION_FP32);
    Model model;
    ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
    const Plan *plan = &model.plan;
    int begin = 0, end = 0, early = 0, small = 0;
    plan_phase_nodes(plan, PHASE_BACKWARD, &begin, &end);
    for (int i = 0; i < plan->n_nodes; i++) {
        if (!is_sent(&plan->nodes[i])) continue;
        small += plan_bytes(plan_out(plan, &plan->nodes[i], 0)) < (size_t)c.bucket;
        early += i < (begin + end) / 2;
    }
    assert_true(count_sent(&model) > 3 && early >= 1 && small <= 1);
    model_free(&model);
}

/* The all_reduce that sends the gradient of every group an AdamW updates; PLAN_NONE: none. */
static int sent_to(const Plan *plan, const Node *adamw)
{
    int of_all = PLAN_NONE;
    for (int g = 0; g < adamw->n_in - 1; g++) {
        const int grad = plan_in_id(plan, adamw, g);
        int of_one = PLAN_NONE;
        for (int i = 0; i < plan->n_nodes; i++) {
            if (is_sent(&plan->nodes[i]) && sends(plan, &plan->nodes[i], grad)) of_one = i;
        }
        if (g > 0) assert_int_equal(of_one, of_all);
        of_all = of_one;
    }
    return of_all;
}

/* The optimizer begins with the bucket that arrives first, and updates every group once. */
static void test_updates_by_bucket(void **state)
{
    (void)state;
    const Config c = ranked_config(PARALLEL_DDP, PRECISION_FP32);
    Model model;
    ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
    const Plan *plan = &model.plan;
    int groups = 0, updates = 0, before = PLAN_NONE;
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        if (node->op != OP_adamw) continue;
        const int sent = sent_to(plan, node);
        assert_true(sent > before);
        before = sent;
        groups += node->n_in - 1;
        updates++;
    }
    assert_int_equal(updates, count_sent(&model));
    assert_int_equal(groups, model.n_groups);
    model_free(&model);
}

static double wire_of(const Config *c)
{
    Model model;
    ASSERT_OK(model_build(&model, c, MODE_TRAIN, DT_F32));
    const double wire = step_cost_of(&model.plan).step.wire;
    const double least = 2.0 * (RANKS - 1) / RANKS * 4 * (double)model.n_elements;
    assert_true(wire == 0 || wire >= least);
    assert_true(wire <= least + model.n_groups * (double)MEM_PLAN_ALIGN * 2);
    model_free(&model);
    return wire;
}

/* The gradients twice over, less a rank's own share; once however many micro-batches there are. */
static void test_bytes_on_the_wire(void **state)
{
    (void)state;
    Config c = ranked_config(PARALLEL_DDP, PRECISION_FP32);
    (void)wire_of(&c); /* with what lies between the gradients of a bucket */
    c.parallel = PARALLEL_DDP_NAIVE;
    const double once = wire_of(&c);
    c.accumulate = 4;
    assert_true(fabs(wire_of(&c) - once) < 1e-9 * once);
    c.ranks = 1;
    assert_true(wire_of(&c) == 0);
}

/* How ranks share a step changes nothing where there is one. */
static void test_one_rank(void **state)
{
    (void)state;
    Config c = ranked_config(PARALLEL_DDP_FLAT, PRECISION_BF16);
    Model one, usual;
    c.ranks = 1;
    ASSERT_OK(model_build(&one, &c, MODE_TRAIN, DT_F32));
    c.parallel = PARALLEL_DDP;
    ASSERT_OK(model_build(&usual, &c, MODE_TRAIN, DT_F32));
    assert_int_equal(one.plan.n_nodes, usual.plan.n_nodes);
    for (int i = 0; i < one.plan.n_nodes; i++)
        assert_int_equal(one.plan.nodes[i].op, usual.plan.nodes[i].op);
    assert_int_equal(count_sent(&one), 0);
    assert_int_equal(one.plan.ranks, 0);
    model_free(&one);
    model_free(&usual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_gradient_once),
        cmocka_unit_test(test_how_many),
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_updates_by_bucket),
        cmocka_unit_test(test_bytes_on_the_wire),
        cmocka_unit_test(test_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
