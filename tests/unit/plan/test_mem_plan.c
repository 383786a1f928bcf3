#include "base/rng.h"
#include "exec/binding.h"
#include "memory_map.h"
#include "model_variants.h"

#include <stdlib.h>

/* ---- small plans by hand ---- */

typedef struct Mini {
    Plan plan;
    Builder b;
    MemPlan mem;
    size_t workspace[64];
} Mini;

static Mini *mini_new(void)
{
    Mini *m = calloc(1, sizeof *m);
    m->plan = (Plan){0};
    builder_init(&m->b, &m->plan);
    return m;
}

static int mini_tensor(Mini *m, TensorKind kind, int64_t elements)
{
    return builder_tensor(&m->b, "t", kind, DT_F32, DIMS(elements));
}

static int activation(Mini *m)
{
    return mini_tensor(m, TK_ACTIVATION, 100);
}

static bool first_to_first(const Plan *plan, const Node *node, int *out, int *in, int i)
{
    (void)plan, (void)node;
    *out = *in = 0;
    return i == 0;
}

static void mini_build(Mini *m, MemPlanAlias *alias)
{
    assert_int_equal(m->b.status, ST_OK);
    assert_int_equal(mem_plan_build(&m->mem, &m->plan, m->workspace, alias, false), ST_OK);
    memory_map_check(&m->plan, &m->mem, m->workspace);
}

static void mini_free(Mini *m)
{
    mem_plan_free(&m->mem);
    builder_free(&m->b);
    plan_free(&m->plan);
    free(m);
}

#define NODE(m, out, in) builder_node(&(m)->b, OP_unary, out, in)

static void test_lifetimes(void **state)
{
    (void)state;
    Mini *m = mini_new();
    const int x = mini_tensor(m, TK_INPUT, 100), unused = activation(m);
    const int a = activation(m), b = activation(m), c = activation(m), kept = activation(m);
    const int window = builder_view(&m->b, "window", a, 10, DIMS(20), 20);
    m->plan.tensors[kept].keep = true;
    NODE(m, IDS(a), IDS(x));      /* 0 */
    NODE(m, IDS(kept), IDS(x));   /* 1 */
    NODE(m, IDS(b), IDS(x));      /* 2 */
    NODE(m, IDS(c), IDS(window)); /* 3: reads a through its window */
    NODE(m, IDS(b), IDS(c));      /* 4: writes the rest of b */
    mini_build(m, NULL);
    const int want[][3] = {
        {unused, PLAN_NONE, PLAN_NONE}, {a, 0, 3}, {b, 2, 4}, {c, 3, 4}, {kept, 1, 4}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_int_equal(m->mem.first[want[i][0]], want[i][1]);
        assert_int_equal(m->mem.last[want[i][0]], want[i][2]);
    }
    assert_int_equal(m->mem.region[TK_INPUT], 512); /* 400 bytes, aligned */
    assert_int_equal(m->mem.peak_node, 3);
    assert_int_equal(m->mem.peak_live, 5 * 512); /* x, a, kept, b, c */
    assert_int_equal(m->mem.arena, 4 * 512);
    mini_free(m);
}

/* What no node writes comes from outside: it is there from the start. */
static void test_read_before_written(void **state)
{
    (void)state;
    Mini *m = mini_new();
    const int x = mini_tensor(m, TK_INPUT, 100), a = activation(m), given = activation(m);
    NODE(m, IDS(a), IDS(x));
    NODE(m, IDS(x), IDS(given));
    assert_int_equal(mem_plan_build(&m->mem, &m->plan, m->workspace, NULL, false), ST_OK);
    assert_int_equal(m->mem.first[given], 0);
    assert_int_equal(m->mem.arena, 2 * 512);
    mini_free(m);
}

/* One step: y = f(x) at node 1 of 3, after node 0 wrote x. What it takes for y to lie in x's place. */
typedef struct Case {
    bool late_reader, keep, keep_window, last_node, twice, smaller, other_dtype, input_window;
    bool shares; /* wanted */
} Case;

static void run_case(const Case *c)
{
    Mini *m = mini_new();
    const int source = mini_tensor(m, TK_INPUT, 100), x = activation(m), z = activation(m);
    const int y = c->other_dtype ? builder_tensor(&m->b, "y", TK_ACTIVATION, DT_I32, DIMS(100))
                                 : mini_tensor(m, TK_ACTIVATION, c->smaller ? 36 : 100);
    const int window = builder_view(&m->b, "window", x, 0, DIMS(50), 50);
    m->plan.tensors[x].keep = c->keep;
    m->plan.tensors[window].keep = c->keep_window;
    NODE(m, IDS(x), IDS(source));
    NODE(m, IDS(y), IDS(c->input_window ? window : x, c->twice ? window : PLAN_NONE));
    if (!c->last_node) NODE(m, IDS(z), IDS(y, c->late_reader ? x : PLAN_NONE));
    mini_build(m, first_to_first);
    assert_int_equal(m->mem.alias_of[y], c->shares ? x : y);
    mini_free(m);
}

static void test_aliases(void **state)
{
    (void)state;
    static const Case cases[] = {
        {.shares = true},  {.late_reader = true}, {.keep = true},
        {.smaller = true}, {.keep_window = true}, {.last_node = true, .keep_window = true},
        {.twice = true},   {.other_dtype = true}, {.input_window = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(&cases[i]);
}

/* y = f(x), matrices of 4 x 101 whose rows lie `x_ld` and `y_ld` apart. */
static void run_padded(int64_t x_ld, int64_t y_ld, bool shares)
{
    Mini *m = mini_new();
    const int source = mini_tensor(m, TK_INPUT, 100), z = activation(m);
    const int x = builder_tensor(&m->b, "x", TK_ACTIVATION, DT_F32, DIMS(4, 101));
    const int y = builder_tensor(&m->b, "y", TK_ACTIVATION, DT_F32, DIMS(4, 101));
    builder_set_ld(&m->b, x, x_ld);
    builder_set_ld(&m->b, y, y_ld);
    NODE(m, IDS(x), IDS(source));
    NODE(m, IDS(y), IDS(x));
    NODE(m, IDS(z), IDS(y));
    mini_build(m, first_to_first);
    assert_int_equal(m->mem.alias_of[y], shares ? x : y);
    const size_t bytes = (size_t)(4 * x_ld) * sizeof(float);
    if (shares) assert_int_equal(m->mem.arena, mem_plan_align(bytes) + 512);
    mini_free(m);
}

/* What lies between rows is memory, too; in place every element stays where it is. */
static void test_padded_rows(void **state)
{
    (void)state;
    run_padded(101, 101, true);
    run_padded(104, 104, true);
    run_padded(257, 257, true);
    run_padded(104, 101, false);
    run_padded(101, 104, false);
    run_padded(104, 112, false);
}

static void test_rows_cannot_overlap(void **state)
{
    (void)state;
    Mini *m = mini_new();
    const int x = builder_tensor(&m->b, "x", TK_ACTIVATION, DT_F32, DIMS(4, 101));
    builder_set_ld(&m->b, x, 100);
    assert_int_equal(m->b.status, ST_FAILED);
    mini_free(m);
}

/* A chain of in-place nodes is one block, as long as all of them. */
static void test_alias_chain(void **state)
{
    (void)state;
    Mini *m = mini_new();
    const int x = mini_tensor(m, TK_INPUT, 100);
    int last = activation(m);
    const int root = last;
    NODE(m, IDS(last), IDS(x));
    for (int i = 0; i < 5; i++) {
        const int next = activation(m);
        NODE(m, IDS(next), IDS(last));
        last = next;
    }
    const int end = activation(m);
    NODE(m, IDS(end), IDS(last, x));
    mini_build(m, first_to_first);
    assert_int_equal(m->mem.alias_of[last], root);
    assert_int_equal(m->mem.last[root], 6);
    assert_int_equal(m->mem.arena, 2 * 512);
    mini_free(m);
}

static void test_persistent_never_shares(void **state)
{
    (void)state;
    Mini *m = mini_new();
    const int w = mini_tensor(m, TK_PARAM, 100), y = activation(m), z = activation(m);
    NODE(m, IDS(y), IDS(w));
    NODE(m, IDS(w), IDS(y));
    NODE(m, IDS(z), IDS(y));
    mini_build(m, first_to_first);
    assert_int_equal(m->mem.alias_of[y], y);
    assert_int_equal(m->mem.alias_of[w], w);
    assert_int_equal(m->mem.region[TK_PARAM], 512);
    mini_free(m);
}

static void test_too_large(void **state)
{
    (void)state;
    Mini *m = mini_new();
    const int x = mini_tensor(m, TK_INPUT, INT64_C(1) << 60);
    NODE(m, IDS(mini_tensor(m, TK_ACTIVATION, INT64_C(1) << 60)), IDS(x));
    assert_int_equal(mem_plan_build(&m->mem, &m->plan, m->workspace, NULL, false), ST_USAGE);
    mini_free(m);
}

/* ---- random plans ---- */

static int below(uint64_t *draw, int n)
{
    return (int)rng_below(11, 3, (*draw)++, n);
}

static bool random_alias(const Plan *plan, const Node *node, int *out, int *in, int i)
{
    (void)plan;
    *out = i % node->n_out;
    *in = (i + node->first) % (node->n_in ? node->n_in : 1);
    return i < 2 && node->n_in > 0;
}

/* Something written already: a tensor or a window into it. */
static int random_input(Mini *m, uint64_t *draw, const int *written, int n)
{
    const int id = written[below(draw, n)];
    if (below(draw, 4)) return id;
    const int64_t elements = plan_elements(&m->plan.tensors[id]);
    return builder_view(&m->b, "window", id, elements / 3, DIMS(elements / 2 ? elements / 2 : 1),
                        1);
}

static void random_plan(Mini *m, uint64_t *draw)
{
    static const int64_t sizes[] = {1, 64, 65, 1000, 1000, 1000, 20000};
    int written[128] = {mini_tensor(m, TK_INPUT, 1000)}, n_written = 1;
    const int n_nodes = 1 + below(draw, 40);
    for (int n = 0; n < n_nodes; n++) {
        int out[2], in[3];
        const int n_out = 1 + below(draw, 2), n_in = below(draw, 4);
        for (int i = 0; i < n_in; i++) in[i] = random_input(m, draw, written, n_written);
        for (int i = 0; i < n_out; i++) {
            out[i] =
                mini_tensor(m, below(draw, 5) ? TK_ACTIVATION : TK_GRAD, sizes[below(draw, 7)]);
            m->plan.tensors[out[i]].keep = below(draw, 10) == 0;
        }
        for (int i = 0; i < n_out; i++) written[n_written++] = out[i];
        builder_node(&m->b, OP_unary, out, n_out, in, n_in);
        m->workspace[n] = below(draw, 3) ? 0 : (size_t)below(draw, 5000);
    }
}

static void test_random(void **state)
{
    (void)state;
    uint64_t draw = 0;
    int shared = 0;
    for (int round = 0; round < 500; round++) {
        Mini *m = mini_new();
        random_plan(m, &draw);
        mini_build(m, random_alias);
        for (int i = 0; i < m->plan.n_tensors; i++) shared += m->mem.alias_of[i] != i;
        mini_free(m);
    }
    assert_true(shared > 100); /* or this tested little */
}

/* ---- real plans ---- */

static void bind(Model *model, Binding *binding, const Config *config)
{
    variants_build(model, config);
    if (binding_make(binding, &model->plan, BACKEND_cpu, 2, NULL) != ST_OK) {
        fail_msg("%s: %s", variants_name(config).s, status_message());
    }
}

static void check_variant(const Config *config)
{
    Model model;
    Binding one, two;
    bind(&model, &one, config);
    memory_map_check(&model.plan, &one.mem, one.workspace);
    assert_int_equal(binding_make(&two, &model.plan, BACKEND_cpu, 2, NULL), ST_OK);
    assert_memory_equal(one.mem.offset, two.mem.offset,
                        (size_t)model.plan.n_tensors * sizeof *one.mem.offset);
    binding_free(&two);
    binding_free(&one);
    model_free(&model);
}

static void test_models(void **state)
{
    (void)state;
    Config config = variants_config();
    variants_each(&config, check_variant);
    config.ctx = 70; /* the scores are now the largest */
    config.model.num_layers = 1;
    variants_each(&config, check_variant);
}

static void check_fragmentation(const Config *config)
{
    Model model;
    Binding binding;
    bind(&model, &binding, config);
    const double total = (double)mem_plan_total(&binding.mem), live = (double)binding.mem.peak_live;
    if (total > 1.05 * live) {
        fail_msg("%s: %.1f %% lost", variants_name(config).s, 100 * (total / live - 1));
    }
    binding_free(&binding);
    model_free(&model);
}

static void test_fragmentation(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        int64_t ctx;
    } cases[] = {{"tiny", 16},  {"tiny", 128},  {"tiny", 1024},
                 {"small", 16}, {"small", 128}, {"medium", 128}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Config config;
        config_defaults(&config);
        assert_int_equal(model_spec_preset(&config.model, cases[i].size), ST_OK);
        config.ctx = cases[i].ctx;
        variants_each(&config, check_fragmentation);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lifetimes),
        cmocka_unit_test(test_read_before_written),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_padded_rows),
        cmocka_unit_test(test_rows_cannot_overlap),
        cmocka_unit_test(test_alias_chain),
        cmocka_unit_test(test_persistent_never_shares),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_fragmentation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
