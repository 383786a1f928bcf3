/* A profiled cell in this very process, so that the sanitizers see all of it: what it tells adds up, its
 * trace is whole, and it costs no more memory for more steps. */
#include "bench/record/profile_check.h"
#include "bench/study/profile_cell.h"
#include "report/profile/kineto_trace.h"
#include "report/profile/nsys_csv.h"
#include "report/validate/validate.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Config small_config(Exec exec)
{
    Config c;
    config_defaults(&c);
    strcpy(c.model.size, "custom");
    strcpy(c.device, "cpu");
    c.model.d_model = 32;
    c.model.d_ff = 48;
    c.model.num_layers = 2;
    c.model.num_heads = 4;
    c.model.vocab = 31;
    c.ctx = 8;
    c.batch = 2;
    c.threads = 2;
    c.warmup = 1;
    c.steps = 5;
    c.exec = exec;
    return c;
}

/* What the profiler held when it was done. */
typedef struct Seen {
    int64_t steps;
    size_t events;
    int trace_rows;
} Seen;

static char trace_path[64], folder[32];

static Status look(void *self, const CellOpen *cell, const Profiler *p)
{
    Seen *seen = self;
    Text csv = {0};
    seen->steps = p->steps;
    seen->events = p->log.n;
    TRY(kineto_trace_write(trace_path, cell, p, true));
    TRY(nsys_csv_trace(&csv, p));
    for (size_t i = 0; i < csv.n; i++) seen->trace_rows += csv.data[i] == '\n';
    text_free(&csv);
    return ST_OK;
}

/* The facts the cell told, merged as the parent does; the caller frees. */
static Record *told(FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    Record *record = json_object();
    rewind(file);
    while (getline(&line, &room, file) > 0) {
        json_t *message = json_loads(line, 0, NULL);
        json_t *facts = json_object_get(message, "facts");
        if (facts) json_object_update(record, facts);
        json_decref(message);
    }
    free(line);
    return record;
}

static Record *run(const Config *config, int64_t trace_steps, Seen *seen)
{
    FILE *file = tmpfile();
    CellLink link;
    *seen = (Seen){0};
    const ProfileTask task = {.trace_steps = trace_steps, .self = seen, .write = look};
    cell_link_open(&link, fileno(file));
    const Status status = profile_cell_run(config, &link, &task);
    if (status != ST_OK) fail_msg("%s", status_message());
    cell_link_close(&link);
    Record *record = told(file);
    fclose(file);
    return record;
}

static void check(Exec exec)
{
    const Config c = small_config(exec);
    Seen seen;
    ProfileView view;
    ValidateNote note;
    Record *record = run(&c, 2, &seen);
    assert_int_equal(seen.steps, c.steps);
    assert_int_equal(profile_view_make(&view, record), ST_OK);
    if (profile_check(&view) != ST_OK) fail_msg("%s", status_message());
    assert_false(view.gpu);
    int nodes = 0;
    for (int i = 0; i < view.n_ops; i++) nodes += view.ops[i].nodes;
    assert_int_equal(seen.trace_rows, 1 + 2 * nodes); /* the header; two steps */
    for (int r = 0; r < NSYS_TRACE; r++) {
        Text csv = {0};
        assert_int_equal(nsys_csv_sum(&csv, (NsysReport)r, &view), ST_OK);
        char name[64];
        snprintf(name, sizeof name, "x_%s.csv", nsys_csv_name((NsysReport)r));
        if (validate_csv(&csv, name, &note) != ST_OK) fail_msg("%s: %s", name, status_message());
        text_free(&csv);
    }
    if (validate_file(trace_path, &note) != ST_OK) fail_msg("%s", status_message());
    profile_view_free(&view);
    json_decref(record);
}

static void test_fused(void **state)
{
    (void)state;
    check(EXEC_FUSED);
}

static void test_eager(void **state)
{
    (void)state;
    check(EXEC_EAGER);
}

/* As many events for two traced steps, however many follow; none at all without. */
static void test_bounds(void **state)
{
    (void)state;
    Config c = small_config(EXEC_FUSED);
    Seen few, many, none;
    json_decref(run(&c, 2, &few));
    c.steps = 40;
    json_decref(run(&c, 2, &many));
    json_decref(run(&c, 0, &none));
    assert_true(few.events > 0 && few.events == many.events);
    assert_int_equal(none.events, 0);
}

/* A profile that was spoilt is refused, not believed. */
static void test_spoilt(void **state)
{
    (void)state;
    const Config c = small_config(EXEC_FUSED);
    Seen seen;
    ProfileView view;
    Record *record = run(&c, 0, &seen);
    json_t *op = json_array_get(record_value(record, "profile.ops"), 0);
    json_t *host = json_object_get(op, "host");
    const double total = json_number_value(json_object_get(host, "total"));
    json_object_set_new(host, "total", json_real(total * 2));
    assert_int_equal(profile_view_make(&view, record), ST_OK);
    assert_int_equal(profile_check(&view), ST_FAILED);
    profile_view_free(&view);
    json_object_set_new(host, "total", json_string("much"));
    assert_int_equal(profile_view_make(&view, record), ST_USAGE);
    json_object_del(record, "profile");
    assert_int_equal(profile_view_make(&view, record), ST_USAGE);
    json_decref(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fused), cmocka_unit_test(test_eager),
                                       cmocka_unit_test(test_bounds),
                                       cmocka_unit_test(test_spoilt)};
    strcpy(folder, "/tmp/roofstep-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    snprintf(trace_path, sizeof trace_path, "%s/trace.json.gz", folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(trace_path);
    rmdir(folder);
    return failed;
}
