#include "bench/forecast/efficiency_json.h"
#include "bench/forecast/submit_queue.h"
#include "bench/limits/datasheet.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(double x, double y, double within)
{
    assert_true(fabs(x - y) <= within);
}

static const EfficiencyLine products = {
    .op = OP_matmul, .precision = PRECISION_BF16, .start = 1e-6, .flops = 2, .bytes = 1, .rows = 3};
static const EfficiencyLine norm = {
    .op = OP_rmsnorm, .precision = PRECISION_COUNT, .start = 2e-6, .bytes = 3, .rows = 1};
static const EfficiencyLine flash = {.op = OP_attention,
                                     .precision = PRECISION_BF16,
                                     .impl = "flash",
                                     .flops = 1,
                                     .score = 8,
                                     .bytes = 1,
                                     .rows = 2};
static const EfficiencyLine cudnn = {.op = OP_attention,
                                     .precision = PRECISION_FP16,
                                     .impl = "cudnn",
                                     .flops = 1,
                                     .score = 9,
                                     .bytes = 1,
                                     .rows = 2};

static Efficiency *made_up(void)
{
    Efficiency *e = calloc(1, sizeof *e);
    assert_non_null(e);
    *e = (Efficiency){.n_lines = 4, .gap = 5e-7, .error = 0.05, .n_sources = 1};
    e->lines[0] = products;
    e->lines[1] = norm;
    e->lines[2] = flash;
    e->lines[3] = cudnn;
    e->reached[PRECISION_BF16] = 0.5;
    e->reached_memory = 0.25;
    snprintf(e->measured_on.gpu, sizeof e->measured_on.gpu, "NVIDIA H200");
    snprintf(e->sources[0], sizeof e->sources[0], "tiny 1 x 2 bf16");
    return e;
}

static void time_of_a_node(void **state)
{
    (void)state;
    EfficiencyRates rates = {.fp32 = 1e9, .bandwidth = 1e9};
    rates.flops[PRECISION_BF16] = 1e12;
    const EfficiencyWork computes = {.flops = 1e6, .bytes = 1000};
    const EfficiencyWork moves = {.flops = 1, .bytes = 1e6};
    const EfficiencyWork scores = {.flops = 1e6, .scores = 1000, .bytes = 10};
    assert_near(efficiency_seconds(&products, &computes, &rates, PRECISION_BF16), 3e-6, 1e-12);
    assert_near(efficiency_seconds(&products, &moves, &rates, PRECISION_BF16), 1.001e-3, 1e-9);
    assert_near(efficiency_seconds(&norm, &moves, &rates, PRECISION_BF16), 3.002e-3, 1e-9);
    assert_near(efficiency_seconds(&flash, &scores, &rates, PRECISION_BF16), 9e-6, 1e-12);
}

static void line_of_a_node(void **state)
{
    (void)state;
    Efficiency *e = made_up();
    const EfficiencyLine *l = e->lines;
    assert_ptr_equal(efficiency_line(e, OP_matmul, PRECISION_BF16, "cublaslt", false), &l[0]);
    assert_null(efficiency_line(e, OP_matmul, PRECISION_FP32, "cublaslt", false));
    assert_ptr_equal(efficiency_line(e, OP_matmul, PRECISION_FP32, "cublaslt", true), &l[0]);
    assert_ptr_equal(efficiency_line(e, OP_rmsnorm, PRECISION_FP32, "rmsnorm_cuda", false), &l[1]);
    assert_null(efficiency_line(e, OP_swiglu, PRECISION_BF16, "", true));
    assert_ptr_equal(efficiency_line(e, OP_attention, PRECISION_BF16, "flash", false), &l[2]);
    assert_null(efficiency_line(e, OP_attention, PRECISION_BF16, "cudnn", false));
    /* the same precision is nearer than the same implementation */
    assert_ptr_equal(efficiency_line(e, OP_attention, PRECISION_BF16, "cudnn", true), &l[2]);
    assert_ptr_equal(efficiency_line(e, OP_attention, PRECISION_FP16, "flash", true), &l[3]);
    free(e);
}

static void a_host_submits(void **state)
{
    (void)state;
    SubmitQueue queue = {0};
    /* the device waits for the first op, has the second when it is done, and waits for the third */
    assert_near(submit_queue_add(&queue, PHASE_FORWARD, 10, 15), 10, 1e-12);
    assert_near(submit_queue_add(&queue, PHASE_FORWARD, 10, 1), 0, 1e-12);
    assert_near(submit_queue_add(&queue, PHASE_FORWARD, 10, 2), 4, 1e-12);
    assert_near(queue.done, 32, 1e-12);
    assert_near(submit_queue_add(&queue, PHASE_BACKWARD, 7, 1), 7, 1e-12); /* it starts anew */
    assert_near(queue.done, 8, 1e-12);
}

static void line_of_an_op_that_was_not_measured(void **state)
{
    (void)state;
    Efficiency *e = made_up();
    assert_near(efficiency_usual(e, OP_swiglu, PRECISION_BF16).bytes, 3, 1e-12);
    assert_near(efficiency_usual(e, OP_swiglu, PRECISION_BF16).start, 2e-6, 1e-12);
    assert_near(efficiency_usual(e, OP_matmul, PRECISION_FP32).flops, 2, 1e-12);
    e->n_lines = 0;
    assert_near(efficiency_usual(e, OP_swiglu, PRECISION_BF16).bytes, 1, 1e-12);
    free(e);
}

static void rates_of_a_data_sheet(void **state)
{
    (void)state;
    Efficiency *e = made_up();
    Limits limits;
    EfficiencyRates rates;
    const Datasheet *sheet;
    assert_int_equal(datasheet_named("rtx4090", &sheet), ST_OK);
    datasheet_limits(sheet, &limits);
    assert_true(efficiency_rates(e, &limits, PRECISION_BF16, &rates));
    assert_near(rates.flops[PRECISION_BF16] / 165.2e12, 0.5, 1e-9);
    assert_near(rates.bandwidth / 1008e9, 0.25, 1e-9);
    assert_near(rates.fp32 / 82.6e12, 1, 1e-9); /* how much of it is reached is not known */
    limits.datasheet = NULL;                    /* measured: as it is */
    assert_true(efficiency_rates(e, &limits, PRECISION_BF16, &rates));
    assert_near(rates.flops[PRECISION_BF16] / 165.2e12, 1, 1e-9);
    assert_int_equal(datasheet_named("t4", &sheet), ST_OK);
    datasheet_limits(sheet, &limits);
    assert_false(efficiency_rates(e, &limits, PRECISION_BF16, &rates));
    free(e);
}

static void written_and_read(void **state)
{
    (void)state;
    Efficiency *e = made_up(), *back = made_up();
    Text text = {0};
    e->error = NAN;
    e->n_hosts = 1;
    e->hosts[0] = (EfficiencyHost){.program = EFFICIENCY_TORCH, .error = 0.1, .n_sources = 1};
    e->hosts[0].seconds[PHASE_BACKWARD] = 3e-5;
    snprintf(e->hosts[0].sources[0], sizeof e->hosts[0].sources[0], "tiny 1 x 2 fp32");
    assert_int_equal(efficiency_json_write(&text, e), ST_OK);
    assert_int_equal(efficiency_json_read(back, text_str(&text), text.n, "it"), ST_OK);
    assert_int_equal(back->n_lines, 4);
    for (int i = 0; i < 4; i++) {
        const EfficiencyLine *x = &e->lines[i], *y = &back->lines[i];
        assert_int_equal(x->op, y->op);
        assert_int_equal(x->precision, y->precision);
        assert_string_equal(x->impl, y->impl);
        assert_near(x->start, y->start, 1e-12);
        assert_near(x->flops, y->flops, 1e-9);
        assert_near(x->score, y->score, 1e-9);
        assert_near(x->bytes, y->bytes, 1e-9);
        assert_int_equal(x->rows, y->rows);
    }
    assert_true(isnan(back->error));
    assert_near(back->gap, 5e-7, 1e-12);
    assert_near(back->reached[PRECISION_BF16], 0.5, 1e-9);
    assert_string_equal(back->measured_on.gpu, "NVIDIA H200");
    assert_string_equal(back->sources[0], "tiny 1 x 2 bf16");
    const EfficiencyHost *host = efficiency_host(back, EFFICIENCY_TORCH, EXEC_EAGER);
    assert_non_null(host);
    assert_null(efficiency_host(back, EFFICIENCY_ROOFSTEP, EXEC_EAGER));
    assert_near(host->seconds[PHASE_BACKWARD], 3e-5, 1e-12);
    assert_near(host->error, 0.1, 1e-9);
    assert_string_equal(host->sources[0], "tiny 1 x 2 fp32");
    for (size_t n = 0; n + 2 < text.n; n++) /* a torn file is none */
        assert_int_equal(efficiency_json_read(back, text_str(&text), n, "it"), ST_USAGE);
    text_free(&text);
    free(e);
    free(back);
}

static void the_program_brings_one(void **state)
{
    (void)state;
    Efficiency *e = made_up();
    assert_int_equal(efficiency_json_bundled(e), ST_OK);
    assert_non_null(efficiency_line(e, OP_matmul, PRECISION_BF16, "", false));
    assert_non_null(efficiency_line(e, OP_attention_grad, PRECISION_BF16, "cudnn", false));
    assert_true(e->error > 0 && e->error < 0.15);
    assert_true(e->reached_memory > 0.8 && e->reached_memory <= 1);
    free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_of_a_node),
        cmocka_unit_test(line_of_a_node),
        cmocka_unit_test(rates_of_a_data_sheet),
        cmocka_unit_test(a_host_submits),
        cmocka_unit_test(line_of_an_op_that_was_not_measured),
        cmocka_unit_test(written_and_read),
        cmocka_unit_test(the_program_brings_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
