/* What the model's plan keeps in memory, and what it does not. */
#include "exec/binding.h"
#include "model_variants.h"

#include <stdlib.h>
#include <string.h>

static void plan_on_cpu(Model *model, Binding *binding, const Config *config)
{
    variants_build(model, config);
    if (binding_make(binding, &model->plan, BACKEND_cpu, 2, NULL) != ST_OK)
        fail_msg("%s: %s", variants_name(config).s, status_message());
}

/* ---- saved for backward ---- */

/* Is the tensor, or a window into it, an operand of a node of that phase (of `layer`, unless NONE)? */
static bool touched(const Plan *plan, int storage, Phase phase, int layer, bool written)
{
    for (int n = 0; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        if (node->phase != phase || (layer != PLAN_NONE && node->layer != layer)) continue;
        for (int i = 0; i < (written ? node->n_out : node->n_in); i++) {
            const int id = written ? plan_out_id(plan, node, i) : plan_in_id(plan, node, i);
            if (id != PLAN_NONE && plan_storage(plan, id) == storage) return true;
        }
    }
    return false;
}

static bool saved(const Plan *plan, int id, int layer)
{
    const Tensor *t = &plan->tensors[id];
    return t->base == PLAN_NONE && !plan_kind_persistent(t->kind) &&
           touched(plan, id, PHASE_FORWARD, layer, true) &&
           touched(plan, id, PHASE_BACKWARD, PLAN_NONE, false);
}

typedef struct Saved {
    const char *name;
    size_t bytes;
} Saved;

/* `want` is in the order the block makes its tensors. */
static void check_block(const Config *config, const Saved *want, int n_want)
{
    Model model;
    int n = 0;
    variants_build(&model, config);
    for (int i = 0; i < model.plan.n_tensors; i++) {
        if (!saved(&model.plan, i, 1)) continue;
        const Tensor *t = &model.plan.tensors[i];
        if (n == n_want || strcmp(want[n].name, t->name) != 0 || want[n].bytes != plan_bytes(t))
            fail_msg("%s of %zu bytes is saved, number %d", t->name, plan_bytes(t), n);
        n++;
    }
    assert_int_equal(n, n_want);
    model_free(&model);
}

static void test_block_fused(void **state)
{
    (void)state;
    Config c = variants_config();
    c.exec = EXEC_FUSED;
    const size_t N = (size_t)(c.batch * c.ctx), C = (size_t)c.model.d_model,
                 F = (size_t)c.model.d_ff;
    const size_t rows = N * (size_t)c.model.num_heads;
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16};
    for (int p = 0; p < 2; p++) {
        const size_t a = p == 0 ? 4 : 2; /* bytes of what the products take and give */
        const Saved want[] = {
            {"ln1", a * N * C},         {"rstd", 4 * N},          {"residual", 4 * N * C},
            {"rotated", a * 3 * N * C}, {"attention", a * N * C}, {"lse", 4 * rows},
            {"ln2", a * N * C},         {"rstd", 4 * N},          {"residual", 4 * N * C},
            {"h13", a * 2 * N * F},
        };
        c.precision = precisions[p];
        check_block(&c, want, (int)(sizeof want / sizeof *want));
    }
}

/* When backward begins, nothing of the forward pass is alive but what will be read, or is kept. */
static void check_dropped(const Config *config)
{
    Model model;
    Binding binding;
    size_t *live = NULL;
    int begin = 0, end = 0;
    if (!config_mode_has_backward(config->mode)) return;
    plan_on_cpu(&model, &binding, config);
    const Plan *plan = &model.plan;
    plan_phase_nodes(plan, PHASE_BACKWARD, &begin, &end);
    bool *wanted = calloc((size_t)plan->n_tensors, sizeof *wanted);
    for (int i = 0; i < plan->n_tensors; i++) {
        const int root = binding.mem.alias_of[plan_storage(plan, i)];
        if (plan->tensors[i].keep && touched(plan, i, PHASE_FORWARD, PLAN_NONE, true))
            wanted[root] = true;
        if (saved(plan, i, PLAN_NONE)) wanted[root] = true;
    }
    for (int i = 0; i < plan->nodes[begin].n_out; i++) {
        wanted[binding.mem
                   .alias_of[plan_storage(plan, plan_out_id(plan, &plan->nodes[begin], i))]] = true;
    }
    size_t sum = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        const size_t bytes = plan_storage_bytes(&plan->tensors[i]);
        if (wanted[i]) sum += (bytes + MEM_PLAN_ALIGN - 1) / MEM_PLAN_ALIGN * MEM_PLAN_ALIGN;
    }
    assert_int_equal(mem_plan_timeline(&binding.mem, plan, binding.workspace, &live), ST_OK);
    const size_t *at = live + begin * TK_COUNT;
    assert_int_equal(at[TK_ACTIVATION] + at[TK_LOGITS] + at[TK_GRAD], sum);
    free(live);
    free(wanted);
    binding_free(&binding);
    model_free(&model);
}

static void test_dropped(void **state)
{
    (void)state;
    const Config c = variants_config();
    variants_each(&c, check_dropped);
}

/* In mode fwd nothing is kept: memory does not grow with the number of layers. */
static void check_forward(const Config *config)
{
    Model model;
    Binding binding;
    Config c = *config;
    size_t arena[2];
    if (c.mode != MODE_FWD) return;
    for (int i = 0; i < 2; i++) {
        c.model.num_layers = i ? 11 : 4; /* three leave a little less between tensors */
        plan_on_cpu(&model, &binding, &c);
        arena[i] = binding.mem.arena;
        binding_free(&binding);
        model_free(&model);
    }
    assert_int_equal(arena[0], arena[1]);
}

static void test_forward_keeps_nothing(void **state)
{
    (void)state;
    const Config c = variants_config();
    variants_each(&c, check_forward);
}

/* Live bytes of activations and logits while each forward node runs; the caller frees them. */
static size_t *forward_timeline(const Config *config, Mode mode, int *n)
{
    Model model;
    Binding binding;
    Config c = *config;
    size_t *live = NULL;
    int begin = 0;
    c.mode = mode;
    plan_on_cpu(&model, &binding, &c);
    assert_int_equal(mem_plan_timeline(&binding.mem, &model.plan, binding.workspace, &live), ST_OK);
    plan_phase_nodes(&model.plan, PHASE_FORWARD, &begin, n);
    for (int i = 0; i < *n; i++) {
        const size_t *at = live + i * TK_COUNT;
        assert_int_equal(at[TK_GRAD], 0);
        live[i] = at[TK_ACTIVATION] + at[TK_LOGITS] + at[TK_WORKSPACE];
    }
    binding_free(&binding);
    model_free(&model);
    return live;
}

/* The forward pass of fwd_grad fills memory as that of fwd_bwd does, node by node. Only its last
 * node may take nothing over. */
static void check_graph_kept(const Config *config)
{
    int n = 0, n_both = 0;
    if (config->mode != MODE_FWD_GRAD) return;
    size_t *alone = forward_timeline(config, MODE_FWD_GRAD, &n);
    size_t *both = forward_timeline(config, MODE_FWD_BWD, &n_both);
    assert_int_equal(n, n_both);
    for (int i = 0; i + 1 < n; i++) {
        if (alone[i] != both[i])
            fail_msg("%s: node %d has %zu bytes, not %zu", variants_name(config).s, i, alone[i],
                     both[i]);
    }
    assert_true(alone[n - 1] >= both[n - 1]);
    free(alone);
    free(both);
}

static void test_graph_is_kept(void **state)
{
    (void)state;
    Config c = variants_config();
    variants_each(&c, check_graph_kept);
    c.recompute = CONFIG_RECOMPUTE_BLOCK;
    variants_each(&c, check_graph_kept);
}

/* ---- large things ---- */

static void check_no_scores(const Config *config)
{
    Model model;
    Binding binding;
    const bool auto_flash = config->attention == ATTENTION_AUTO && config->exec == EXEC_FUSED;
    const bool flash = config->attention == ATTENTION_FLASH || auto_flash;
    const int64_t scores = config->batch * config->model.num_heads * config->ctx * config->ctx;
    bool found = false;
    plan_on_cpu(&model, &binding, config);
    for (int i = 0; i < model.plan.n_tensors; i++) {
        found = found || plan_elements(&model.plan.tensors[i]) >= scores;
    }
    for (int n = 0; n < model.plan.n_nodes; n++) {
        found = found || (flash && binding.workspace[n] >= 2 * (size_t)scores);
    }
    if (found == flash) fail_msg("%s: %d", variants_name(config).s, found);
    binding_free(&binding);
    model_free(&model);
}

static void test_no_scores_with_flash(void **state)
{
    (void)state;
    Config c = variants_config();
    c.ctx = 400;
    c.batch = 8;
    variants_each(&c, check_no_scores);
}

static void check_logits(const Config *config)
{
    Model model;
    Binding binding;
    int found = 0;
    plan_on_cpu(&model, &binding, config);
    for (int n = 0; n < model.plan.n_nodes; n++) {
        const Node *node = &model.plan.nodes[n];
        if (node->op != OP_cross_entropy_grad) continue;
        const int gradient = plan_out_id(&model.plan, node, 0);
        assert_int_equal(plan_in_id(&model.plan, node, 1), model.logits);
        assert_int_equal(binding.mem.alias_of[gradient], model.logits);
        assert_int_equal(model.plan.tensors[gradient].kind, TK_LOGITS);
        found++;
    }
    assert_int_equal(found, config->exec == EXEC_FUSED && config_mode_has_backward(config->mode));
    binding_free(&binding);
    model_free(&model);
}

static void test_logits_in_place(void **state)
{
    (void)state;
    const Config c = variants_config();
    variants_each(&c, check_logits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_fused),           cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_forward_keeps_nothing), cmocka_unit_test(test_no_scores_with_flash),
        cmocka_unit_test(test_logits_in_place),       cmocka_unit_test(test_graph_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
