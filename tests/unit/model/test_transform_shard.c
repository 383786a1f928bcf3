/* Which part of what each rank keeps, and what ranks send each other, with zero1 and fsdp. */
#include "model/model.h"
#include "model/step_cost.h"
#include "plan/mem_plan.h"
#include "step_harness.h"

enum { RANKS = 3 };

static Config sharded_config(Parallel parallel, Precision precision)
{
    Config c = small_config();
    c.ranks = RANKS;
    c.parallel = parallel;
    c.precision = precision;
    c.model.num_layers = 5;
    return c;
}

static bool is_op(const Plan *plan, int n, OpKind op)
{
    return plan->nodes[n].op == op;
}

/* How many nodes before `end`, of the op, have the tensor's memory as operand `operand` (outputs first). */
static int count_before(const Plan *plan, OpKind op, int operand, int tensor, int end)
{
    int found = 0;
    for (int n = 0; n < end; n++) {
        if (!is_op(plan, n, op)) continue;
        const int id = plan->operands[plan->nodes[n].first + operand];
        found += plan_storage(plan, id) == plan_storage(plan, tensor);
    }
    return found;
}

/* The gradient of every group is scattered once, after all that write it; the optimizer reads the shard. */
static void check_gradients(const Model *model)
{
    const Plan *plan = &model->plan;
    for (int g = 0; g < model->n_groups; g++) {
        const ParamGroup *group = &model->groups[g];
        bool scattered = false;
        int n_scattered = 0;
        for (int n = 0; n < plan->n_nodes; n++) {
            const Node *node = &plan->nodes[n];
            if (is_op(plan, n, OP_reduce_scatter) && plan_in_id(plan, node, 0) == group->grad) {
                assert_int_equal(plan_out_id(plan, node, 0), group->own.grad);
                assert_true(node->attr.scale == 1.0 / RANKS);
                scattered = true;
                n_scattered++;
                continue;
            }
            for (int i = 0; i < node->n_out; i++) {
                const int id = plan_out_id(plan, node, i);
                if (id != PLAN_NONE && plan_storage(plan, id) == group->grad)
                    assert_false(scattered);
            }
        }
        assert_int_equal(n_scattered, 1);
    }
}

/* Elements of everything that the optimizer updates: operand k of each group. */
static int64_t updated(const Model *model, int k)
{
    const Plan *plan = &model->plan;
    for (int n = 0; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        int64_t sum = 0;
        if (node->op != OP_adamw) continue;
        for (int i = k; i < node->n_out; i += 4) {
            const Tensor *t = plan_out(plan, node, i);
            if (t) sum += plan_elements(t);
        }
        return sum;
    }
    fail_msg("there is no optimizer");
    return 0;
}

/* With fsdp nothing reads memory that keeps a shard but collectives and the optimizer. */
static void check_reads(const Model *model)
{
    const Plan *plan = &model->plan;
    for (int n = 0; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        if (node->phase == PHASE_OPTIMIZER || node->phase == PHASE_SETUP) continue;
        for (int i = 0; i < node->n_out + node->n_in; i++) {
            const int id = plan->operands[node->first + i];
            if (id == PLAN_NONE) continue;
            const Tensor *base = &plan->tensors[plan_storage(plan, id)];
            if (base->kind == TK_PARAM || base->kind == TK_WEIGHT_COPY)
                assert_int_equal(node->op, OP_all_gather);
            if (base->kind == TK_GATHERED && node->op != OP_all_gather)
                assert_int_equal(count_before(plan, OP_all_gather, 0, id, n), 1);
        }
    }
}

static void check(const Config *config, int64_t elements[4])
{
    Model model;
    ASSERT_OK(model_build(&model, config, MODE_TRAIN, DT_F32));
    check_gradients(&model);
    if (config->parallel == PARALLEL_FSDP) check_reads(&model);
    for (int k = 0; config->exec != EXEC_EAGER && k < 4; k++) elements[k] += updated(&model, k);
    model_free(&model);
}

static void test_every_variant(void **state)
{
    (void)state;
    for (int i = 0; i < 64; i++) {
        Config c = sharded_config(i & 1 ? PARALLEL_ZERO1 : PARALLEL_FSDP,
                                  (Precision)(i / 2 % PRECISION_COUNT));
        int64_t elements[4] = {0};
        c.exec = i & 8 ? EXEC_EAGER : EXEC_FUSED;
        c.accumulate = i & 16 ? 3 : 1;
        c.recompute = i & 32 ? CONFIG_RECOMPUTE_BLOCK : CONFIG_RECOMPUTE_NONE;
        c.model.tied = i % 3 == 0;
        c.head_rows = i % 5 == 0 ? 16 : CONFIG_HEAD_AUTO;
        for (c.rank = 0; c.rank < RANKS; c.rank++) check(&c, elements);
        if (c.exec == EXEC_EAGER) continue;
        Model model;
        ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
        for (int k = 0; k < 3; k++) assert_int_equal(elements[k], model.n_elements);
        model_free(&model);
    }
}

static size_t region_of(const Config *c, TensorKind kind)
{
    Model model;
    size_t bytes = 0;
    ASSERT_OK(model_build(&model, c, MODE_TRAIN, DT_F32));
    for (int i = 0; i < model.plan.n_tensors; i++) {
        const Tensor *t = &model.plan.tensors[i];
        if (t->base == PLAN_NONE && t->kind == kind) bytes += plan_bytes(t);
    }
    model_free(&model);
    return bytes;
}

/* Moments and master copies with zero1, everything with fsdp: all ranks together keep it once. */
static void test_memory(void **state)
{
    (void)state;
    const TensorKind kinds[] = {TK_MOMENT, TK_PARAM, TK_WEIGHT_COPY};
    for (int precision = 0; precision < PRECISION_COUNT; precision++) {
        for (int k = 0; k < 3; k++) {
            Config c = sharded_config(PARALLEL_DDP, (Precision)precision);
            const size_t all = region_of(&c, kinds[k]);
            size_t zero1 = 0, fsdp = 0, most = 0;
            for (c.rank = 0; c.rank < RANKS; c.rank++) {
                c.parallel = PARALLEL_FSDP;
                const size_t own = region_of(&c, kinds[k]);
                fsdp += own;
                most = own > most ? own : most;
                c.parallel = PARALLEL_ZERO1;
                zero1 += region_of(&c, kinds[k]);
            }
            const size_t empty = 32 * RANKS * 8; /* at most: shards without elements have one */
            assert_true(fsdp >= all && fsdp <= all + empty);
            assert_true(most <= all / RANKS + all / 10);
            if (kinds[k] == TK_MOMENT) assert_true(zero1 >= all && zero1 <= all + empty);
            if (kinds[k] == TK_WEIGHT_COPY) assert_int_equal(zero1, RANKS * all);
        }
    }
}

static double wire_of(const Config *c)
{
    Model model;
    ASSERT_OK(model_build(&model, c, MODE_TRAIN, DT_F32));
    const double wire = step_cost_of(&model.plan).step.wire;
    model_free(&model);
    return wire / (4 * (double)model_parameters(c) * (RANKS - 1) / RANKS);
}

/* In shares of the parameters that other ranks have: zero1 as ddp, fsdp gathers twice and scatters once. */
static void test_bytes_on_the_wire(void **state)
{
    (void)state;
    Config c = sharded_config(PARALLEL_ZERO1, PRECISION_FP32);
    assert_true(fabs(wire_of(&c) - 2) < 1e-9);
    c.parallel = PARALLEL_FSDP;
    const double once = wire_of(&c);
    assert_true(once > 2.5 && once < 3); /* what head and loss read is gathered once */
    c.accumulate = 2;
    assert_true(wire_of(&c) > 2 * once - 1.01 && wire_of(&c) < 2 * once);
}

/* A block's parameters and gradients are not there at the same time as those of all others. */
static void test_gathered_memory(void **state)
{
    (void)state;
    const size_t none[2048] = {0};
    Config c = sharded_config(PARALLEL_FSDP, PRECISION_FP32);
    Model model;
    MemPlan mem;
    size_t *live = NULL, most = 0, all = 0;
    c.model.num_layers = 12;
    ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
    assert_true(model.plan.n_nodes < 2048);
    ASSERT_OK(mem_plan_build(&mem, &model.plan, none, NULL, false));
    ASSERT_OK(mem_plan_timeline(&mem, &model.plan, none, &live));
    for (int n = 0; n < model.plan.n_nodes; n++) {
        const size_t now = live[(size_t)n * TK_COUNT + TK_GATHERED];
        most = now > most ? now : most;
    }
    for (int g = 0; g < model.n_groups; g++) all += 4 * (size_t)model.groups[g].used;
    assert_true(most > 0 && most < all * 4 / 12);
    free(live);
    mem_plan_free(&mem);
    model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_variant),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_bytes_on_the_wire),
        cmocka_unit_test(test_gathered_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
