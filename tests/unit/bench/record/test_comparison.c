#include "base/rng.h"
#include "bench/record/comparison_gate.h"
#include "bench/record/record_file.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16, STEP = COMPARISON_PHASES - 1 };

static void add(RecordSet *set, const char *key, const double *step_ms, int n)
{
    double seconds[MOST];
    Record *record = json_object();
    for (int i = 0; i < n; i++) seconds[i] = 1e-3 * step_ms[i];
    assert_int_equal(record_put_text(record, "cell", key), ST_OK);
    assert_int_equal(record_put_status(record, RECORD_OK, NULL), ST_OK);
    assert_int_equal(record_put_samples(record, "step", seconds, n), ST_OK);
    assert_int_equal(record_set_add(set, record), ST_OK);
    json_decref(record);
}

static void draw(double *x, int n, uint64_t stream, double scale, double noise)
{
    float normal[MOST];
    rng_truncated_normal(normal, n, 5, stream, 0, noise);
    for (int i = 0; i < n; i++) x[i] = scale * (1 + (double)normal[i]);
}

static ComparisonPhase compare(const double *a, int na, const double *b, int nb)
{
    RecordSet set_a, set_b;
    Comparison c;
    assert_int_equal(record_set_init(&set_a, NULL), ST_OK);
    assert_int_equal(record_set_init(&set_b, NULL), ST_OK);
    add(&set_a, "k=1", a, na);
    add(&set_b, "k=1", b, nb);
    assert_int_equal(comparison_make(&c, &set_a, &set_b), ST_OK);
    assert_int_equal(c.n_cells, 1);
    const ComparisonPhase step = c.cells[0].phases[STEP];
    comparison_free(&c);
    record_set_free(&set_a);
    record_set_free(&set_b);
    return step;
}

/* 2,000 pairs without a difference, 10 samples each with 1 % noise: at most 6.5 % called different. */
static void no_difference_is_rarely_called_one(void **state)
{
    (void)state;
    int different = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        double a[10], b[10];
        draw(a, 10, 2 * seed, 100, 0.01);
        draw(b, 10, 2 * seed + 1, 100, 0.01);
        const ComparisonVerdict verdict = compare(a, 10, b, 10).verdict;
        different += verdict == COMPARISON_FASTER || verdict == COMPARISON_SLOWER;
    }
    assert_in_range(different, 1, 130);
}

static void five_percent_are_found(void **state)
{
    (void)state;
    int slower = 0, faster = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        double a[10], b[10];
        draw(a, 10, 2 * seed, 100, 0.01);
        draw(b, 10, 2 * seed + 1, 105, 0.01);
        slower += compare(a, 10, b, 10).verdict == COMPARISON_SLOWER;
        faster += compare(b, 10, a, 10).verdict == COMPARISON_FASTER;
    }
    assert_in_range(slower, 475, 500);
    assert_int_equal(slower, faster);
}

static void swapping_mirrors(void **state)
{
    (void)state;
    static const ComparisonVerdict mirror[] = {
        [COMPARISON_NONE] = COMPARISON_NONE,     [COMPARISON_FASTER] = COMPARISON_SLOWER,
        [COMPARISON_SLOWER] = COMPARISON_FASTER, [COMPARISON_SAME] = COMPARISON_SAME,
        [COMPARISON_UNSURE] = COMPARISON_UNSURE,
    };
    int seen[5] = {0};
    for (uint64_t seed = 0; seed < 300; seed++) {
        double a[16], b[16];
        const int na = 3 + (int)(seed % 13), nb = 3 + (int)(seed % 11);
        draw(a, na, 2 * seed, 100, 0.01);
        draw(b, nb, 2 * seed + 1, 98 + 0.02 * (double)(seed % 200), 0.01);
        const ComparisonPhase up = compare(a, na, b, nb), down = compare(b, nb, a, na);
        seen[up.verdict]++;
        assert_int_equal(down.verdict, mirror[up.verdict]);
        assert_true(fabs((1 + up.change) * (1 + down.change) - 1) < 1e-12);
        assert_true(up.exact == down.exact && fabs(up.p - down.p) < 1e-12);
        assert_true(isnan(up.low) ? isnan(down.high)
                                  : fabs((1 + up.low) * (1 + down.high) - 1) < 1e-12);
    }
    assert_true(seen[COMPARISON_FASTER] && seen[COMPARISON_SLOWER] && seen[COMPARISON_UNSURE]);
}

static void rules(void **state)
{
    (void)state;
    double a[10], b[10], wide[10];
    for (int i = 0; i < 10; i++) {
        a[i] = 100 + 0.01 * i;
        b[i] = 100.9 + 0.01 * i;
        wide[i] = 100 + 10 * i;
    }
    /* As significant as can be, but not by 1 %. */
    const ComparisonPhase small = compare(a, 10, b, 10);
    assert_true(small.p < 1e-4);
    assert_int_equal(small.verdict, COMPARISON_SAME);
    for (int i = 0; i < 10; i++) b[i] = 101.2 + 0.01 * i;
    assert_int_equal(compare(a, 10, b, 10).verdict, COMPARISON_SLOWER);
    assert_int_equal(compare(b, 10, a, 10).verdict, COMPARISON_FASTER);
    /* Three and three cannot be told apart, however far from each other. */
    const ComparisonPhase few = compare(a, 3, wide + 5, 3);
    assert_int_equal(few.verdict, COMPARISON_UNSURE);
    assert_true(isnan(few.low) && few.change > 0.5 && fabs(few.p - 0.1) < 1e-15);
    /* A measurement against itself, however wide. */
    const ComparisonPhase self = compare(wide, 10, wide, 10);
    assert_int_equal(self.verdict, COMPARISON_SAME);
    assert_true(self.change == 0 && self.high > 0.1);
    assert_int_equal(compare(wide, 3, wide, 3).verdict, COMPARISON_SAME);
    /* The same numbers in another order are another run. */
    double turned[10];
    for (int i = 0; i < 10; i++) turned[i] = wide[9 - i];
    assert_int_equal(compare(wide, 10, turned, 10).verdict, COMPARISON_UNSURE);
    const double zero[] = {0, 0, 0, 0};
    assert_int_equal(compare(zero, 4, a, 4).verdict, COMPARISON_NONE);
}

static void files_against_themselves_are_the_same(void **state)
{
    (void)state;
    static const char *const files[] = {"golden/compare-a.json", "golden/compare-b.jsonl",
                                        "golden/attention.json"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        RecordSet set;
        Comparison c;
        assert_int_equal(record_set_init(&set, NULL), ST_OK);
        assert_int_equal(record_file_read(&set, files[f], NULL), ST_OK);
        assert_int_equal(comparison_make(&c, &set, &set), ST_OK);
        assert_int_equal(c.n_cells, record_set_size(&set));
        assert_int_equal(c.n_only_a + c.n_only_b, 0);
        assert_int_equal(json_array_size(c.differences), 0);
        int same = 0;
        for (size_t i = 0; i < c.n_cells; i++) {
            for (int k = 0; k < COMPARISON_PHASES; k++) {
                const ComparisonVerdict verdict = c.cells[i].phases[k].verdict;
                assert_true(verdict == COMPARISON_SAME || verdict == COMPARISON_NONE);
                same += verdict == COMPARISON_SAME;
            }
        }
        assert_true(same > 0);
        assert_int_equal(comparison_gate_make(&c, 0).slower, 0);
        assert_int_equal(comparison_gate_make(&c, 0).lost, 0);
        assert_null(comparison_gate_make(&c, 0).worst);
        comparison_free(&c);
        record_set_free(&set);
    }
}

static void the_last_of_a_key_counts(void **state)
{
    (void)state;
    const double slow[] = {200, 201, 202, 203, 204}, fast[] = {100, 101, 102, 103, 104};
    RecordSet a, b;
    Comparison c;
    assert_int_equal(record_set_init(&a, NULL), ST_OK);
    assert_int_equal(record_set_init(&b, NULL), ST_OK);
    add(&a, "k=1", slow, 5);
    add(&a, "k=1", fast, 5);
    add(&a, "k=2", fast, 5);
    add(&b, "k=1", slow, 5);
    add(&b, "k=3", slow, 5);
    assert_int_equal(comparison_make(&c, &a, &b), ST_OK);
    assert_int_equal(c.n_cells, 1);
    assert_int_equal(c.n_only_a, 1);
    assert_int_equal(c.n_only_b, 1);
    assert_int_equal(c.cells[0].phases[STEP].verdict, COMPARISON_SLOWER);
    assert_true(fabs(c.mean_ratio[STEP] - 202.0 / 102) < 1e-12);
    assert_int_equal(c.n_ratios[STEP], 1);
    assert_true(isnan(c.mean_ratio[0]));
    assert_int_equal(comparison_gate_make(&c, 0.9).slower, 1);
    assert_int_equal(comparison_gate_make(&c, 1.0).slower, 0);
    comparison_free(&c);
    record_set_free(&a);
    record_set_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_difference_is_rarely_called_one),
        cmocka_unit_test(five_percent_are_found),
        cmocka_unit_test(swapping_mirrors),
        cmocka_unit_test(rules),
        cmocka_unit_test(files_against_themselves_are_the_same),
        cmocka_unit_test(the_last_of_a_key_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
