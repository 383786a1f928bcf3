/* Several cells: order, resuming, and what ends a sweep. */
#include "fake_cells.h"

/* Whatever one cell does, the next one runs. */
static void test_sweep_goes_on(void **state)
{
    (void)state;
    static const enum Behaviour order[] = {CRASHES, FINE, KILLED, NOT_HERE, TOO_BIG, FINE};
    Config configs[6];
    for (int i = 0; i < 6; i++) {
        configs[i] = cell(order[i]);
        configs[i].ctx = 64 + i;
    }
    Kept kept = {0};
    RecordSet rows;
    const RunnerOutcome outcome = run(configs, 6, NULL, &kept, &rows);
    assert_int_equal(record_set_size(&rows), 6);
    assert_int_equal(kept.n, 6);
    assert_int_equal(outcome.bad, 3);
    for (size_t i = 0; i < 6; i++) near(number(record_set_at(&rows, i), "ctx"), 64.0 + (double)i);
    record_set_free(&rows);
}

/* Cells that leave their turn behind: "ctx steps" on a line of a file, one sample per step. */
enum { CELLS = 6, ROUNDS = 3 };
static const char turns_file[] = "interleaved.txt";

/* Other programs take most in the first round, other virtual machines in the second. */
static Status tell_guests(CellLink *link, int round)
{
    Record *r = json_object();
    record_put_number(r, "others_percent", 30 - 10 * round);
    record_put_number(r, "stolen_percent", round == 1 ? 7 : 2);
    const Status status = cell_link_facts(link, r);
    json_decref(r);
    return status;
}

static Status traced_cell(const Config *config, CellLink *link)
{
    FILE *file = fopen(turns_file, "a+");
    int turns = 0;
    for (int c; (c = fgetc(file)) != EOF;) turns += c == '\n';
    fprintf(file, "%lld %lld\n", (long long)config->ctx, (long long)config->steps);
    fclose(file);
    TRY(facts(link));
    TRY(tell_guests(link, turns / CELLS));
    TRY(send_samples(link, (int)config->steps));
    return cell_link_end(link, RECORD_OK, NULL);
}

static void test_interleaved(void **state)
{
    (void)state;
    Config configs[CELLS];
    for (int i = 0; i < CELLS; i++) {
        configs[i] = cell(FINE);
        configs[i].ctx = i + 1;
        configs[i].steps = 7;
    }
    const RunnerTask task = {.configs = configs, .n = CELLS, .cell = traced_cell, .rounds = ROUNDS};
    RunnerOutcome outcome;
    RecordSet rows;
    remove(turns_file);
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    assert_int_equal(runner_run(&task, &rows, &outcome), ST_OK);
    FILE *file = fopen(turns_file, "r");
    int order[ROUNDS][CELLS], steps[CELLS + 1] = {0}, same = 0;
    for (int r = 0; r < ROUNDS; r++) {
        int seen[CELLS + 1] = {0};
        for (int i = 0; i < CELLS; i++) {
            int n = 0;
            assert_int_equal(fscanf(file, "%d %d", &order[r][i], &n), 2);
            assert_int_equal(seen[order[r][i]]++, 0); /* each once in every round */
            steps[order[r][i]] += n;
            same += order[r][i] == i + 1;
        }
    }
    fclose(file);
    remove(turns_file);
    assert_true(same < ROUNDS * CELLS);
    assert_true(memcmp(order[0], order[1], sizeof order[0]) != 0);
    for (int i = 0; i < CELLS; i++) {
        const Record *r = record_set_at(&rows, (size_t)i);
        assert_int_equal(steps[i + 1], 7);
        near(number(r, "ctx"), i + 1); /* rows in the order of the sweep */
        near(number(r, "samples"), 7);
        near(number(r, "rounds"), ROUNDS);
        near(number(r, "steps"), 7);
        near(number(r, "others_percent"), 30); /* of the round with the most */
        near(number(r, "stolen_percent"), 7);
    }
    record_set_free(&rows);
}

static void test_resume(void **state)
{
    (void)state;
    Config configs[4];
    static const enum Behaviour first[] = {FINE, FORWARD_ONLY, NOT_HERE, BROKEN};
    for (int i = 0; i < 4; i++) configs[i] = cell(first[i]);
    Kept kept = {0};
    RecordSet old, rows;
    run(configs, 4, NULL, &kept, &old);

    /* Backwards, with a new cell in the middle. */
    const Config again[] = {configs[3], configs[2], cell(CHATTY), configs[1], configs[0]};
    kept = (Kept){0};
    const RunnerOutcome outcome = run(again, 5, &old, &kept, &rows);
    assert_int_equal(outcome.kept, 3);
    assert_int_equal(kept.n, 2); /* the broken one and the new one */
    assert_int_equal(outcome.bad, 2);
    static const RecordStatus expected[] = {RECORD_FAILED, RECORD_UNSUPPORTED, RECORD_OK,
                                            RECORD_OOM, RECORD_OK};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(record_status(record_set_at(&rows, i)), expected[i]);
        char key[RECORD_KEY_SIZE];
        record_key_of_config(&again[i], key);
        assert_string_equal(record_key(record_set_at(&rows, i)), key);
    }
    record_set_free(&old);
    record_set_free(&rows);
}

/* What the plan foretold is kept; memory that ran out meanwhile may be there the next time. */
static void test_resume_after_oom(void **state)
{
    (void)state;
    const Config configs[] = {cell(FORWARD_ONLY), cell(TOO_BIG), cell(KILLED), cell(FINE)};
    static const bool keeps[] = {true, false, false, true};
    Kept kept = {0};
    RecordSet old, rows;
    run(configs, 4, NULL, &kept, &old);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(cell_record_is_final(record_set_at(&old, i)), keeps[i]);
    kept = (Kept){0};
    assert_int_equal(run(configs, 4, &old, &kept, &rows).kept, 2);
    assert_int_equal(kept.n, 2);
    record_set_free(&old);
    record_set_free(&rows);
}

static void test_full_disk_stops(void **state)
{
    (void)state;
    const Config configs[] = {cell(FINE), cell(CHATTY), cell(FORWARD_ONLY)};
    Kept kept = {.fail_at = 2};
    RecordSet rows;
    run(configs, 3, NULL, &kept, &rows);
    assert_int_equal(kept.n, 2);
    assert_int_equal(record_set_size(&rows), 2); /* the row that could not be written is not lost */
    record_set_free(&rows);
}

static void test_interrupt(void **state)
{
    (void)state;
    const Config configs[] = {cell(FINE), cell(CHATTY), cell(FORWARD_ONLY)};
    Kept kept = {.interrupt_at = 2};
    RecordSet rows;
    const RunnerOutcome outcome = run(configs, 3, NULL, &kept, &rows);
    assert_int_equal(outcome.signal, SIGINT);
    assert_int_equal(record_set_size(&rows), 2);
    record_set_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep_goes_on),   cmocka_unit_test(test_interleaved),
        cmocka_unit_test(test_resume),          cmocka_unit_test(test_resume_after_oom),
        cmocka_unit_test(test_full_disk_stops), cmocka_unit_test(test_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
