/* Estimates of simulated machines whose law is known. */
#include "bench/estimate/time_estimate.h"
#include "model/model.h"
#include "with_cmocka.h"

#include <math.h>

enum { MOST = 16 };

typedef struct Machine {
    Config configs[MOST];
    TimeEstimateRow cells[MOST];
    int n;
} Machine;

static Config attention(int64_t ctx, int64_t d_head)
{
    Config config;
    config_attention_defaults(&config);
    config.ctx = ctx;
    config.d_head = d_head;
    config.attention = ATTENTION_NAIVE;
    return config;
}

static Config model(const char *size, Mode mode)
{
    Config config;
    config_defaults(&config);
    assert_int_equal(model_spec_preset(&config.model, size), ST_OK);
    config.mode = mode;
    return config;
}

static void add(Machine *m, const Config *config, const char *path, double x)
{
    Record *record = json_object();
    assert_int_equal(record_put_number(record, path, x), ST_OK);
    m->configs[m->n] = *config;
    m->cells[m->n] = (TimeEstimateRow){&m->configs[m->n], record};
    m->n++;
}

static void drop(Machine *m)
{
    for (int i = 0; i < m->n; i++) json_decref((json_t *)m->cells[i].record);
    *m = (Machine){0};
}

static void close_to(double x, double wanted)
{
    if (!(fabs(x / wanted - 1) < 1e-3)) fail_msg("%g is not %g", x, wanted);
}

static double flops(const Config *c)
{
    return (double)c->ctx * (double)c->ctx * (double)c->d_head;
}

/* Scores are written and read by each primitive: their bytes, whatever the width of heads. */
static double bytes(const Config *c)
{
    return (double)c->ctx * (double)c->ctx * 12 + (double)c->ctx * (double)c->d_head * 8;
}

static double forward(const Machine *m, const Config *wanted)
{
    return time_estimate_from_rows("forward.mean_ms", wanted, m->cells, m->n);
}

static void with_one_row_by_its_rate(void **state)
{
    Machine m = {0};
    const Config near = attention(1024, 64), far = attention(8192, 64);
    (void)state;
    add(&m, &near, "forward.mean_ms", 35);
    close_to(forward(&m, &far), 35 * 64.0);
    assert_true(isnan(time_estimate_from_rows("backward.mean_ms", &far, m.cells, m.n)));
    drop(&m);
}

/* Rows of other widths tell which of the two it is. */
static void by_what_explains_the_rows(void **state)
{
    static const int64_t widths[] = {16, 64, 128};
    double (*const laws[])(const Config *) = {flops, bytes};
    const Config wanted = attention(8192, 32);
    (void)state;
    for (int law = 0; law < 2; law++) {
        Machine m = {0};
        for (int i = 0; i < 3; i++) {
            const Config row = attention(1024, widths[i]);
            add(&m, &row, "forward.mean_ms", 1e-6 * laws[law](&row));
        }
        close_to(forward(&m, &wanted), 1e-6 * laws[law](&wanted));
        drop(&m);
    }
}

/* Small rows are mostly launches: the nearest of many is taken, wherever it stands. */
static void the_nearest_row_counts(void **state)
{
    Machine m = {0};
    (void)state;
    for (int64_t ctx = 8192; ctx >= 64; ctx /= 2) {
        const Config row = attention(ctx, 64);
        add(&m, &row, "forward.mean_ms", 0.05 + 1e-8 * bytes(&row));
    }
    const Config wanted = attention(16384, 64), small = attention(60, 64);
    if (!(fabs(forward(&m, &wanted) / (0.05 + 1e-8 * bytes(&wanted)) - 1) < 0.05))
        fail_msg("%g", forward(&m, &wanted));
    assert_true(forward(&m, &small) > 0.03);
    drop(&m);
}

/* Of two rows of the same width the nearer one, however near a row of another width is. */
static void the_same_width_is_nearer(void **state)
{
    Machine m = {0};
    const Config same = attention(2048, 64), other = attention(8192, 128);
    const Config wanted = attention(8192, 64);
    (void)state;
    add(&m, &other, "forward.mean_ms", 5000);
    add(&m, &same, "forward.mean_ms", 35);
    close_to(forward(&m, &wanted), 35 * 16);
    drop(&m);
}

static void other_implementations_tell_nothing(void **state)
{
    Machine m = {0};
    const Config naive = attention(1024, 64);
    Config other = naive;
    (void)state;
    add(&m, &naive, "forward.mean_ms", 35);
    other.attention = ATTENTION_FUSED;
    assert_true(isnan(forward(&m, &other)));
    other = naive;
    other.precision = PRECISION_BF16;
    assert_true(isnan(forward(&m, &other)));
    other = naive;
    other.from_first = true;
    other.warmup = 0;
    assert_true(isnan(forward(&m, &other)));
    add(&m, &other, "forward.mean_ms", 1000); /* has the cold step among its samples */
    close_to(forward(&m, &naive), 35);
    drop(&m);
}

/* Without a warm-up the first sample is cold: the median is that of warm ones, from three samples on. */
static void samples_without_warm_up_tell_by_their_median(void **state)
{
    Machine m = {0};
    Config cold = model("small", MODE_FWD_BWD), warm = cold;
    (void)state;
    cold.from_first = true;
    cold.warmup = 0;
    warm.batch = 2 * cold.batch;
    add(&m, &cold, "forward.mean_ms", 1000);
    json_t *forward_of = json_object_get((json_t *)m.cells[0].record, "forward");
    record_put_number(forward_of, "median_ms", 35);
    json_object_set_new(forward_of, "samples_ms", json_pack("[f, f]", 1965.0, 35.0));
    assert_true(isnan(forward(&m, &warm)));
    json_object_set_new(forward_of, "samples_ms", json_pack("[f, f, f]", 2930.0, 35.0, 35.0));
    close_to(forward(&m, &warm), 70);
    assert_true(isnan(forward(&m, &cold)));
    warm.batch = cold.batch;
    add(&m, &warm, "forward.mean_ms", 40);
    close_to(forward(&m, &warm), 40);
    drop(&m);
}

/* A pass that keeps the graph is the same work in every mode. */
static void phases_tell_of_other_modes(void **state)
{
    Machine m = {0};
    const Config both = model("small", MODE_FWD_BWD), train = model("small", MODE_TRAIN);
    const Config alone = model("small", MODE_FWD);
    (void)state;
    add(&m, &both, "forward.mean_ms", 100);
    record_put_number((json_t *)m.cells[0].record, "backward.mean_ms", 200);
    record_put_number((json_t *)m.cells[0].record, "step.mean_ms", 300);
    close_to(forward(&m, &train), 100);
    close_to(time_estimate_from_rows("backward.mean_ms", &train, m.cells, m.n), 200);
    assert_true(isnan(time_estimate_from_rows("step.mean_ms", &train, m.cells, m.n)));
    assert_true(isnan(forward(&m, &alone)));
    drop(&m);
}

/* Optimizers go over the weights once, whatever the batch. */
static void phases_of_a_step_scale_each_its_own_way(void **state)
{
    Machine m = {0};
    Config row = model("small", MODE_TRAIN), wanted = row;
    (void)state;
    add(&m, &row, "forward.mean_ms", 100);
    json_t *record = (json_t *)m.cells[0].record;
    record_put_number(record, "backward.mean_ms", 200);
    record_put_number(record, "optimizer.mean_ms", 30);
    wanted.batch = 4 * row.batch;
    close_to(time_estimate_from_rows("step.mean_ms", &wanted, m.cells, m.n), 4 * 300 + 30);
    close_to(time_estimate_from_rows("optimizer.mean_ms", &wanted, m.cells, m.n), 30);
    close_to(time_estimate_from_rows("tokens_per_s", &wanted, m.cells, m.n),
             (double)wanted.batch * (double)wanted.ctx / 1.23);
    assert_true(isnan(time_estimate_from_rows("forward.std_ms", &wanted, m.cells, m.n)));
    drop(&m);
}

static void without_phases_by_whole_steps(void **state)
{
    Machine m = {0};
    Config row = model("small", MODE_FWD_BWD), wanted = row;
    (void)state;
    add(&m, &row, "step.mean_ms", 100);
    wanted.batch = 3 * row.batch;
    close_to(time_estimate_from_rows("step.mean_ms", &wanted, m.cells, m.n), 300);
    const TimeEstimateRow not_run = {&row, NULL};
    assert_true(isnan(time_estimate_from_rows("step.mean_ms", &wanted, &not_run, 1)));
    drop(&m);
}

/* What did not fit was run in a smaller mode. */
static void rows_without_room_tell_of_their_phases(void **state)
{
    Machine m = {0};
    const Config both = model("small", MODE_FWD_BWD), larger = model("medium", MODE_FWD_BWD);
    const Config graph = model("small", MODE_FWD_GRAD), wanted = model("medium", MODE_FWD_GRAD);
    (void)state;
    add(&m, &both, "forward.mean_ms", 35);
    Record *record = (Record *)m.cells[0].record;
    assert_int_equal(record_put_number(record, "step.mean_ms", 35), ST_OK);
    assert_int_equal(record_put_status(record, RECORD_OOM, "short"), ST_OK);
    assert_true(forward(&m, &larger) > 35);
    assert_true(isnan(time_estimate_from_rows("step.mean_ms", &larger, m.cells, m.n)));
    add(&m, &graph, "forward.mean_ms", 35);
    assert_int_equal(record_put_status((Record *)m.cells[1].record, RECORD_OOM, "short"), ST_OK);
    assert_true(isnan(forward(&m, &wanted)));
    drop(&m);
}

static Config wide_head(int64_t ctx, Mode mode)
{
    Config config = model("small", mode);
    config.model.vocab = 50257;
    config.batch = 4;
    config.ctx = ctx;
    return config;
}

/* Beyond 2048 tokens the gradients of a wide head are part of the forward phase, below they are not: rows of
 * the one kind tell of the other by the work of each phase. */
static void heads_in_chunks_move_work_between_phases(void **state)
{
    Config rows[] = {wide_head(256, MODE_TRAIN), wide_head(1024, MODE_TRAIN)};
    (void)state;
    rows[1].accumulate = 3; /* of each micro-batch */
    for (int from = 0; from < 2; from++) {
        Machine m = {0};
        double law[2][2]; /* of each config: ms of forward and backward */
        for (int i = 0; i < 2; i++) {
            const double F = model_forward_flops(&rows[i]);
            const double head = 4 * config_tokens(&rows[i]) * 768 * 50257, moved = i ? head : 0;
            law[i][0] = 1e-9 * (F + moved);
            law[i][1] = 1e-9 * (2 * F - moved);
        }
        add(&m, &rows[from], "forward.mean_ms", law[from][0]);
        close_to(forward(&m, &rows[1 - from]), law[1 - from][0]);
        drop(&m);
        add(&m, &rows[from], "backward.mean_ms", law[from][1]);
        close_to(time_estimate_from_rows("backward.mean_ms", &rows[1 - from], m.cells, m.n),
                 law[1 - from][1]);
        drop(&m);
    }
}

/* A step that did not fit has the time of a forward pass without them. */
static void a_forward_pass_alone_has_no_gradients(void **state)
{
    Machine m = {0};
    const Config row = wide_head(1024, MODE_TRAIN), wanted = wide_head(2048, MODE_TRAIN);
    (void)state;
    add(&m, &row, "forward.mean_ms", 1e-9 * model_forward_flops(&row));
    Record *record = (Record *)m.cells[0].record;
    assert_int_equal(record_put_status(record, RECORD_OOM, "short"), ST_OK);
    assert_int_equal(record_put_text(record, "measured_mode", "fwd"), ST_OK);
    close_to(forward(&m, &wanted),
             1e-9 * (model_forward_flops(&wanted) + 4.0 * 4 * 2048 * 768 * 50257));
    drop(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_one_row_by_its_rate),
        cmocka_unit_test(by_what_explains_the_rows),
        cmocka_unit_test(the_nearest_row_counts),
        cmocka_unit_test(the_same_width_is_nearer),
        cmocka_unit_test(other_implementations_tell_nothing),
        cmocka_unit_test(samples_without_warm_up_tell_by_their_median),
        cmocka_unit_test(phases_tell_of_other_modes),
        cmocka_unit_test(phases_of_a_step_scale_each_its_own_way),
        cmocka_unit_test(without_phases_by_whole_steps),
        cmocka_unit_test(rows_without_room_tell_of_their_phases),
        cmocka_unit_test(heads_in_chunks_move_work_between_phases),
        cmocka_unit_test(a_forward_pass_alone_has_no_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
