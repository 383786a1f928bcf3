/* The whole step as data: what must hold of its plan in every mode, precision, exec and attention. */
#include "config/model_file.h"
#include "exec/binding.h"
#include "model/model.h"
#include "model/step_cost.h"
#include "model_variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

static void test_preset_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        int64_t parameters;
    } presets[] = {{"small", 128625408},
                   {"medium", 423183360},
                   {"large", 969411840},
                   {"xl", 1998235200},
                   {"2.7B", 3406809600}};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        for (int exec = EXEC_EAGER; exec <= EXEC_FUSED; exec++) {
            Config c;
            Model model;
            config_defaults(&c);
            assert_int_equal(model_spec_preset(&c.model, presets[i].size), ST_OK);
            c.exec = (Exec)exec;
            assert_int_equal(model_build(&model, &c, MODE_FWD, DT_F32), ST_OK);
            assert_int_equal(model.n_elements, presets[i].parameters);
            assert_int_equal(model.n_params, 3 + 9 * c.model.num_layers);
            model_free(&model);
        }
    }
}

/* As `transformers` counts them. */
static void test_model_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        int64_t parameters;
    } models[] = {
        {"gpt2", 124439808},         {"gpt2-xl", 1557611200},       {"pythia-160m", 162322944},
        {"pythia-1.4b", 1414647808}, {"llama-3.2-1b", 1235814400},  {"llama-3.1-8b", 8030261248},
        {"mistral-7b", 7241732096},  {"qwen2.5-0.5b", 494032768},   {"qwen3-0.6b", 596049920},
        {"qwen3-8b", 8190735360},    {"mixtral-8x7b", 46702792704}, {"qwen3-30b-a3b", 30532122624}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        for (int exec = EXEC_EAGER; exec <= EXEC_FUSED; exec++) {
            Config c;
            Model model;
            config_defaults(&c);
            c.exec = (Exec)exec;
            assert_int_equal(model_file_load(&c.model, models[i].model), ST_OK);
            assert_int_equal(model_build(&model, &c, MODE_FWD, DT_F32), ST_OK);
            assert_int_equal(model.n_elements, models[i].parameters);
            assert_true(model_parameters(&c) == (double)models[i].parameters);
            model_free(&model);
        }
    }
}

static int count_ops(const char *name, Exec exec, OpKind op)
{
    Config c;
    Model model;
    int n = 0;
    config_defaults(&c);
    c.exec = exec;
    c.ctx = 16;
    assert_int_equal(model_file_load(&c.model, name), ST_OK);
    assert_int_equal(model_build(&model, &c, MODE_TRAIN, DT_F32), ST_OK);
    for (int i = 0; i < model.plan.n_nodes; i++) n += model.plan.nodes[i].op == op;
    model_free(&model);
    return n;
}

/* An eager step has primitives in their place; their gradients are those of the primitives. */
static void test_eager_has_no_norms(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        OpKind op, grad;
        int fused; /* 12 layers with two and one more; 28 with one of q and one of k */
    } norms[] = {{"gpt2", OP_layernorm, OP_layernorm_grad, 25},
                 {"qwen3-0.6b", OP_head_norm, OP_head_norm_grad, 56}};
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        assert_int_equal(count_ops(norms[i].model, EXEC_FUSED, norms[i].op), norms[i].fused);
        assert_int_equal(count_ops(norms[i].model, EXEC_FUSED, norms[i].grad), norms[i].fused);
        assert_int_equal(count_ops(norms[i].model, EXEC_EAGER, norms[i].op), 0);
        assert_int_equal(count_ops(norms[i].model, EXEC_EAGER, norms[i].grad), 0);
    }
}

/* Names and shapes are a contract with those who read an export: weights are [out, in]. */
static void check_names(const Config *c)
{
    const int64_t C = c->model.d_model, F = c->model.d_ff, V = c->model.vocab;
    const struct {
        const char *name;
        int64_t rows, cols;
    } want[] = {
        {"token_embedding", V, C},
        {"layers.0.ln1", 1, C},
        {"layers.0.ln2", 1, C},
        {"layers.0.attn.q_proj", C, C},
        {"layers.0.attn.k_proj", C, C},
        {"layers.0.attn.v_proj", C, C},
        {"layers.0.attn.output_proj", C, C},
        {"layers.0.ffn.w1", F, C},
        {"layers.0.ffn.w3", F, C},
        {"layers.0.ffn.w2", C, F},
        {"layers.1.ln1", 1, C},
    };
    Model model;
    variants_build(&model, c);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const Tensor *t = &model.plan.tensors[model.params[i].tensor];
        assert_string_equal(model.params[i].name, want[i].name);
        assert_int_equal(plan_rows(t), want[i].rows);
        assert_int_equal(plan_width(t), want[i].cols);
    }
    assert_string_equal(model.params[model.n_params - 2].name, "ln_final");
    assert_string_equal(model.params[model.n_params - 1].name, "lm_head");
    model_free(&model);
}

static void test_names(void **state)
{
    (void)state;
    const Config c = variants_config();
    variants_each(&c, check_names);
}

/* ---- every plan is sound ---- */

/* How often every element of every storage tensor is written. */
typedef struct Writes {
    const Plan *plan;
    int **count; /* of each storage tensor; NULL for views */
} Writes;

static Writes writes_new(const Plan *plan)
{
    Writes w = {plan, calloc((size_t)plan->n_tensors, sizeof *w.count)};
    for (int i = 0; i < plan->n_tensors; i++) {
        const Tensor *t = &plan->tensors[i];
        const size_t elements = plan_storage_bytes(t) / plan_dtype_size(t->dtype);
        if (t->base == PLAN_NONE) w.count[i] = calloc(elements, sizeof **w.count);
    }
    return w;
}

static void writes_free(Writes *w)
{
    for (int i = 0; i < w->plan->n_tensors; i++) free(w->count[i]);
    free(w->count);
}

static void writes_add(Writes *w, int id)
{
    const Tensor *t = &w->plan->tensors[id];
    int *count = w->count[plan_storage(w->plan, id)];
    for (int64_t row = 0; row < plan_rows(t); row++) {
        for (int64_t col = 0; col < plan_width(t); col++) count[t->offset + row * t->ld + col]++;
    }
}

static void writes_of_phase(Writes *w, Phase phase)
{
    for (int n = 0; n < w->plan->n_nodes; n++) {
        const Node *node = &w->plan->nodes[n];
        for (int i = 0; node->phase == phase && i < node->n_out; i++) {
            const int out = plan_out_id(w->plan, node, i);
            if (out != PLAN_NONE) writes_add(w, out);
        }
    }
}

static bool updated_in_place(TensorKind kind)
{
    return kind == TK_PARAM || kind == TK_MOMENT || kind == TK_STATE || kind == TK_WEIGHT_COPY;
}

static void check_written_once(const Plan *plan)
{
    Writes w = writes_new(plan);
    for (int p = 0; p < PHASE_COUNT; p++) writes_of_phase(&w, (Phase)p);
    for (int i = 0; i < plan->n_tensors; i++) {
        const Tensor *t = &plan->tensors[i];
        if (t->base != PLAN_NONE || updated_in_place(t->kind)) continue;
        const int most = t->kind == TK_INPUT || t->kind == TK_CONSTANT ? 0 : 1;
        for (int64_t e = 0; e < plan_rows(t) * t->ld; e++) {
            if (w.count[i][e] > most) fail_msg("%s is written %d times", t->name, w.count[i][e]);
        }
    }
    writes_free(&w);
}

static void check_nodes(const Plan *plan, const char *variant)
{
    Phase phase = PHASE_SETUP;
    for (int n = 0; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        const OpDef *def = op_def(node->op);
        assert_true(node->phase >= phase); /* in the order of a step, so contiguous */
        phase = node->phase;
        assert_true(node->scope[0] != '\0');
        if (def->check && def->check(plan, node) != ST_OK)
            fail_msg("%s: %s", variant, status_message());
        const OpCost cost = op_cost(plan, node);
        assert_true(cost.bytes > 0 && cost.flops >= 0 && isfinite(cost.flops));
    }
}

static void check_phases(const Plan *plan, Mode mode)
{
    static const Mode from[PHASE_COUNT] = {MODE_FWD, MODE_FWD, MODE_FWD_BWD, MODE_TRAIN};
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        int begin = 0, end = 0;
        plan_phase_nodes(plan, (Phase)p, &begin, &end);
        assert_int_equal(end > begin, mode >= from[p]);
    }
}

static void check_sound(const Config *config)
{
    Model model;
    variants_build(&model, config);
    check_nodes(&model.plan, variants_name(config).s);
    check_phases(&model.plan, config->mode);
    check_written_once(&model.plan);
    assert_true(model.plan.tensors[model.loss].keep);
    model_free(&model);
}

static void test_sound(void **state)
{
    (void)state;
    const Config c = variants_config();
    variants_each(&c, check_sound);
}

/* ---- gradients and updates ---- */

static void expect_writes(const Writes *w, int id, int least, int most)
{
    const Tensor *t = &w->plan->tensors[id];
    const int *count = w->count[plan_storage(w->plan, id)] + t->offset;
    for (int64_t e = 0; e < plan_elements(t); e++) {
        if (count[e] >= least && count[e] <= most) continue;
        fail_msg("%s[%lld] is written %d times", t->name, (long long)e, count[e]);
    }
}

/* Every element of every parameter has its gradient written once by backward, and is updated with both
 * its moments by the optimizer. */
static void check_gradients(const Config *config)
{
    Model model;
    variants_build(&model, config);
    Writes backward = writes_new(&model.plan), optimizer = writes_new(&model.plan);
    writes_of_phase(&backward, PHASE_BACKWARD);
    writes_of_phase(&optimizer, PHASE_OPTIMIZER);
    for (int i = 0; i < model.n_params; i++) {
        const Param *p = &model.params[i];
        assert_int_equal(p->grad != PLAN_NONE, config_mode_has_backward(config->mode));
        if (p->grad == PLAN_NONE) continue;
        assert_int_equal(plan_elements(&model.plan.tensors[p->grad]),
                         plan_elements(&model.plan.tensors[p->tensor]));
        expect_writes(&backward, p->grad, 1, 1);
        if (config->mode == MODE_TRAIN) expect_writes(&optimizer, p->tensor, 1, 2);
    }
    for (int i = 0; config->mode == MODE_TRAIN && i < model.n_groups; i++) {
        const ParamGroup *g = &model.groups[i];
        expect_writes(&optimizer, g->m, 1, 1);
        expect_writes(&optimizer, g->v, 1, 2);
        if (g->copy != PLAN_NONE) expect_writes(&optimizer, g->copy, 1, 1);
    }
    writes_free(&backward);
    writes_free(&optimizer);
    model_free(&model);
}

static void test_gradients(void **state)
{
    (void)state;
    const Config c = variants_config();
    variants_each(&c, check_gradients);
}

/* ---- mixed precision ---- */

/* Without an optimizer a parameter is there once, as it is read: product weights in 16 bit, unless they
 * are cast in every pass. */
static void check_forward_params(const Model *model)
{
    for (int i = 0; model->mode == MODE_FWD && i < model->n_groups; i++) {
        const ParamGroup *g = &model->groups[i];
        const Tensor *t = &model->plan.tensors[g->flat];
        const bool product = strstr(t->name, "weights") || strcmp(t->name, "lm_head") == 0;
        assert_int_equal(g->copy, PLAN_NONE);
        assert_int_equal(t->dtype, product && !model->eager ? model->act : DT_F32);
    }
}

static void check_dtypes(const Config *config)
{
    static const DType acts[PRECISION_COUNT] = {DT_F32, DT_F32, DT_BF16, DT_F16};
    Model model;
    variants_build(&model, config);
    for (int n = 0; n < model.plan.n_nodes; n++) {
        const Node *node = &model.plan.nodes[n];
        if (node->op != OP_matmul && node->op != OP_bmm && node->op != OP_attention) continue;
        assert_int_equal(plan_out(&model.plan, node, 0)->dtype, acts[config->precision]);
        for (int i = 0; i < node->n_in; i++) {
            assert_int_equal(plan_in(&model.plan, node, i)->dtype, acts[config->precision]);
        }
    }
    for (int i = 0; i < model.plan.n_tensors; i++) {
        const Tensor *t = &model.plan.tensors[i];
        const bool updated = t->kind == TK_PARAM && config->mode != MODE_FWD;
        const bool wide = strcmp(t->name, "residual") == 0 || strcmp(t->name, "embedded") == 0 ||
                          t->kind == TK_MOMENT || updated;
        const bool halved = updated && t->dtype == DT_LOW16;
        if (halved) assert_int_equal(model.plan.tensors[t->upper].dtype, DT_BF16);
        if (halved) assert_int_equal(config->precision, PRECISION_BF16);
        if (wide && !halved) assert_int_equal(t->dtype, DT_F32);
    }
    check_forward_params(&model);
    model_free(&model);
}

static void test_dtypes(void **state)
{
    (void)state;
    const Config c = variants_config();
    variants_each(&c, check_dtypes);
}

/* ---- FLOPs ---- */

/* 2 FLOPs per weight and token for a linear layer, and causal attention's two products of T^2 / 2 x D per
 * head; backward is twice that. */
static double formula(const Config *c)
{
    const double B = (double)c->batch, T = (double)c->ctx, C = (double)c->model.d_model;
    const double F = (double)c->model.d_ff, V = (double)c->model.vocab,
                 L = (double)c->model.num_layers;
    const double weights = L * (4 * C * C + 3 * C * F) + V * C;
    const double forward = 2 * B * T * weights + L * 2 * B * T * T * C;
    return config_mode_has_backward(c->mode) ? 3 * forward : forward;
}

static void check_flops(const Config *config)
{
    Model model;
    variants_build(&model, config);
    const double got = step_cost_of(&model.plan).step.matmul_flops, want = formula(config);
    if (fabs(got - want) > 1e-12 * want) {
        fail_msg("%s: %.0f FLOPs, expected %.0f", variants_name(config).s, got, want);
    }
    model_free(&model);
    if (model_build(&model, config, MODE_FWD, DT_F32) != ST_OK) fail_msg("%s", status_message());
    assert_true(model_forward_flops(config) == step_cost_of(&model.plan).step.matmul_flops);
    model_free(&model);
}

static void test_flops(void **state)
{
    (void)state;
    const Config c = variants_config();
    variants_each(&c, check_flops);
    Config small;
    config_defaults(&small);
    check_flops(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_preset_parameters),
        cmocka_unit_test(test_model_parameters),
        cmocka_unit_test(test_eager_has_no_norms),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_flops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
