/* The plan of a step in fp8 beside that of the same step in bf16: the same products of the same tensors. */
#include "fp8_harness.h"
#include "memory_map.h"
#include "model/stages.h"
#include "model/transform_fp8_fuse.h"
#include "ops/fp8/quantize.h"
#include "small_architectures.h"

typedef struct Plans {
    Model fp8, bf16;
} Plans;

static void open_plans(Plans *p, const Config *config)
{
    Config c = *config;
    ASSERT_OK(model_build(&p->fp8, &c, c.mode, DT_F32));
    c.precision = PRECISION_BF16;
    ASSERT_OK(model_build(&p->bf16, &c, c.mode, DT_F32));
}

static void close_plans(Plans *p)
{
    model_free(&p->fp8);
    model_free(&p->bf16);
}

/* The next product of a block's weights from node n on. */
static int next_product(const Plan *plan, int n)
{
    for (; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        if (node->layer == PLAN_NONE) continue;
        if (node->op == OP_matmul || node->op == OP_scaled_matmul) break;
    }
    return n;
}

static bool is_whole(int64_t size)
{
    return size % 16 == 0;
}

/* Tensors have the same numbers in both plans: 8-bit ones come after all others. */
static void same_operands(const Plan *fp8, const Node *scaled, const Plan *bf16, const Node *plain)
{
    const bool transposed[] = {plain->attr.transpose_a, !plain->attr.transpose_b};
    assert_true(scaled->attr.transpose_b && !scaled->attr.transpose_a);
    assert_int_equal(scaled->attr.accumulate, plain->attr.accumulate);
    assert_int_equal(scaled->recomputed, plain->recomputed);
    for (int i = 0; i < 2; i++) {
        const Fp8Source source = fp8_source(fp8, plan_in_id(fp8, scaled, i));
        assert_int_equal(source.tensor, plan_in_id(bf16, plain, i));
        assert_int_equal(source.transposed, transposed[i]);
        /* bias and c */
        assert_int_equal(plan_in_id(fp8, scaled, 4 + i), plan_in_id(bf16, plain, 2 + i));
    }
}

static int check_products(const Plans *p)
{
    const Plan *fp8 = &p->fp8.plan, *bf16 = &p->bf16.plan;
    int products = 0, n = next_product(fp8, 0), m = next_product(bf16, 0);
    for (; n < fp8->n_nodes && m < bf16->n_nodes; products++) {
        const Node *got = &fp8->nodes[n], *want = &bf16->nodes[m];
        const Tensor *a = plan_in(bf16, want, 0), *b = plan_in(bf16, want, 1);
        const bool whole = is_whole(plan_rows(a)) && is_whole(plan_width(a)) &&
                           is_whole(plan_rows(b)) && is_whole(plan_width(b));
        assert_string_equal(got->scope, want->scope);
        assert_int_equal(got->phase, want->phase);
        assert_int_equal(plan_out_id(fp8, got, 0), plan_out_id(bf16, want, 0));
        assert_int_equal(got->op, whole ? OP_scaled_matmul : OP_matmul);
        if (whole) same_operands(fp8, got, bf16, want);
        n = next_product(fp8, n + 1);
        m = next_product(bf16, m + 1);
    }
    assert_true(n == fp8->n_nodes && m == bf16->n_nodes);
    return products;
}

static void check_config(const Config *c)
{
    Plans p;
    Binding binding;
    open_plans(&p, c);
    assert_true(check_products(&p) > 0);
    ASSERT_OK(binding_make(&binding, &p.fp8.plan, BACKEND_cpu, 2, NULL));
    memory_map_check(&p.fp8.plan, &binding.mem, binding.workspace);
    binding_free(&binding);
    close_plans(&p);
}

static void test_same_products(void **state)
{
    (void)state;
    for (int i = 0; i < FP8_RECIPE_COUNT * MODE_COUNT * 4; i++) {
        Config c = fp8_config((Fp8Recipe)(i % FP8_RECIPE_COUNT));
        c.mode = (Mode)(i / FP8_RECIPE_COUNT % MODE_COUNT);
        c.exec = i & 1 << 4 ? EXEC_EAGER : EXEC_FUSED;
        c.model.num_layers = 4;
        if (i & 1 << 5) c.recompute = 1;
        if (i & 1 << 5 && c.mode == MODE_TRAIN) c.accumulate = 3;
        check_config(&c);
    }
}

/* Biases, shared heads, tied tables; sizes that are no multiples of 16 among others. */
static void test_architectures(void **state)
{
    (void)state;
    for (int i = 0; i < SMALL_ARCHITECTURES; i++) {
        Config c = small_architecture(i);
        c.precision = PRECISION_FP8;
        c.exec = EXEC_FUSED;
        check_config(&c);
        c.batch = 16;
        check_config(&c);
    }
}

/* Nothing fits: the plan is that of bf16. */
static void test_nothing_fits(void **state)
{
    (void)state;
    Config c = small_config();
    Plans p;
    c.precision = PRECISION_FP8;
    open_plans(&p, &c);
    check_products(&p);
    assert_int_equal(p.fp8.plan.n_nodes, p.bf16.plan.n_nodes);
    assert_int_equal(p.fp8.plan.n_tensors, p.bf16.plan.n_tensors);
    assert_int_equal(p.fp8.fp8.amax, PLAN_NONE);
    close_plans(&p);
}

static int products_in(const Plan *plan, LinearLayer linear, OpKind op)
{
    int n = 0;
    for (int i = 0; i < plan->n_nodes; i++)
        n += plan->nodes[i].op == op && transform_fp8_linear(&plan->nodes[i]) == linear;
    return n;
}

/* --fp8-layers: every set of layers, and those alone. */
static void test_some_layers(void **state)
{
    (void)state;
    for (int64_t set = 0; set <= CONFIG_LINEARS_AUTO; set++) {
        Config c = fp8_config((Fp8Recipe)(set % FP8_RECIPE_COUNT));
        Model m;
        c.fp8_layers = set;
        c.exec = EXEC_FUSED;
        ASSERT_OK(model_build(&m, &c, MODE_TRAIN, DT_F32));
        for (int i = 0; i < LINEAR_COUNT; i++) {
            const bool all = set == CONFIG_LINEARS_ALL || set == CONFIG_LINEARS_AUTO;
            const bool in = all || (set < CONFIG_LINEARS_SETS && set & 1 << i);
            const int n = 3 * (int)c.model.num_layers;
            assert_int_equal(products_in(&m.plan, (LinearLayer)i, OP_scaled_matmul), in ? n : 0);
            assert_int_equal(products_in(&m.plan, (LinearLayer)i, OP_matmul), in ? 0 : n);
        }
        assert_string_equal(m.fp8.left, ""); /* nothing is left for its size */
        model_free(&m);
    }
}

/* ---- what is kept for backward ---- */

static bool is_made_in(const Plan *plan, int tensor, Phase phase)
{
    for (int n = 0; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        for (int o = 0; node->phase == phase && o < node->n_out; o++) {
            const int id = plan_out_id(plan, node, o);
            if (id != PLAN_NONE && plan_storage(plan, id) == plan_storage(plan, tensor))
                return true;
        }
    }
    return false;
}

/* What the forward pass has made is not quantized in backward: its 8-bit copy was saved. */
static void test_saved_in_8_bits(void **state)
{
    (void)state;
    const Config c = fp8_config(FP8_RECIPE_CURRENT);
    Model m;
    int gradients = 0, again = 0;
    ASSERT_OK(model_build(&m, &c, MODE_TRAIN, DT_F32));
    for (int n = 0; n < m.plan.n_nodes; n++) {
        const Node *node = &m.plan.nodes[n];
        if (node->op != OP_quantize || node->phase != PHASE_BACKWARD) continue;
        const int x = plan_in_id(&m.plan, node, 0);
        assert_true(is_made_in(&m.plan, x, PHASE_BACKWARD));
        if (strcmp(m.plan.tensors[x].name, "g again") == 0)
            again++;
        else
            gradients++;
    }
    assert_int_equal(gradients, 4 * c.model.num_layers);
    assert_int_equal(again, c.model.num_layers);
    model_free(&m);
}

/* Every layout that is made is read, and none is made that is not. */
static void test_layouts(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        Config c = fp8_config(FP8_RECIPE_ROWWISE);
        Model m;
        int transposed = 0;
        ASSERT_OK(model_build(&m, &c, (Mode)mode, DT_F32));
        for (int n = 0; n < m.plan.n_nodes; n++) {
            const Node *node = &m.plan.nodes[n];
            for (int o = 0; node->op == OP_quantize && o < 4; o++) {
                const int id = plan_out_id(&m.plan, node, o);
                bool read = id == PLAN_NONE || m.plan.tensors[id].saved;
                for (int later = n; later < m.plan.n_nodes && !read; later++) {
                    for (int i = 0; i < m.plan.nodes[later].n_in; i++)
                        read |= plan_in_id(&m.plan, &m.plan.nodes[later], i) == id;
                }
                assert_true(read);
                transposed += o == 2 && id != PLAN_NONE;
            }
        }
        assert_int_equal(transposed > 0, mode != MODE_FWD);
        model_free(&m);
    }
}

static int count(const Plan *plan, OpKind op)
{
    int n = 0;
    for (int i = 0; i < plan->n_nodes; i++) n += plan->nodes[i].op == op;
    return n;
}

/* The references of all ops: what is fused gives the bits of what is apart, and quantizes as much. */
static void check_fused(const Config *c, Mode mode, int gates, int gradients)
{
    Step fused, apart;
    ASSERT_OK(model_build(&fused.model, c, mode, DT_F32));
    ASSERT_OK(model_build(&apart.model, c, mode, DT_F32));
    ASSERT_OK(transform_fp8_fuse(&fused.model.plan));
    const Plan *plan = &fused.model.plan, *whole = &apart.model.plan;
    assert_int_equal(count(plan, OP_swiglu_fp8), gates);
    assert_int_equal(count(plan, OP_swiglu_fp8_grad), gradients);
    assert_int_equal(count(whole, OP_swiglu) - count(plan, OP_swiglu), gates);
    assert_int_equal(count(whole, OP_swiglu_grad) - count(plan, OP_swiglu_grad), gradients);
    QuantizePlace place[QUANTIZE_PLACES];
    int places = 0;
    for (int i = 0; i < plan->n_nodes; i++) places += quantize_places(&plan->nodes[i], place);
    assert_int_equal(places, count(whole, OP_quantize));
    start_step_on(&fused, BACKEND_cpu, "reference", 2);
    start_step_on(&apart, BACKEND_cpu, "reference", 2);
    if (mode == MODE_TRAIN) compare_whole_step(&fused, &apart, 2);
    if (mode != MODE_TRAIN) assert_true(loss_of(&fused) == loss_of(&apart));
    close_step(&fused);
    close_step(&apart);
}

static Config gate_config(Fp8Recipe recipe)
{
    Config c = fp8_config(recipe); /* references are slow */
    c.model.d_model = 48;
    c.model.d_ff = 32;
    c.batch = 1;
    return c;
}

static void test_fused(void **state)
{
    (void)state;
    Config c = gate_config(FP8_RECIPE_DELAYED);
    check_fused(&c, MODE_TRAIN, 1, 1);
    check_fused(&c, MODE_FWD_BWD, 1, 1);
    check_fused(&c, MODE_FWD, 1, 0);
    check_fused(&c, MODE_FWD_GRAD, 1, 0);
    c.accumulate = 3;
    check_fused(&c, MODE_TRAIN, 1, 1);
    c.accumulate = 1;
    c.model.num_layers = 2;
    c.recompute = 1;                   /* block */
    check_fused(&c, MODE_TRAIN, 2, 2); /* g is made again by its gradient */
    c.recompute = CONFIG_RECOMPUTE_NONE;
    c.fp8_layers =
        1 << LINEAR_W13 | 1 << LINEAR_QKV; /* g stays bf16, and with it the gradient's node */
    check_fused(&c, MODE_TRAIN, 0, 0);
    c.fp8_layers = 1 << LINEAR_W2; /* g in 8 bits, dh in 16 */
    check_fused(&c, MODE_TRAIN, 2, 0);
    c = gate_config(FP8_RECIPE_CURRENT); /* scales are known too late */
    check_fused(&c, MODE_TRAIN, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_products),   cmocka_unit_test(test_architectures),
        cmocka_unit_test(test_some_layers),     cmocka_unit_test(test_nothing_fits),
        cmocka_unit_test(test_saved_in_8_bits), cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_fused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
