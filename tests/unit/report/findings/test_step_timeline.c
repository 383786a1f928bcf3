/* One step of rank 0: the one in the middle, and what is in it. */
#include "report/findings/result_input.h"
#include "with_cmocka.h"

#include <math.h>
#include <string.h>

#define EVENT(category, name, pid, ts, dur, args)                                               \
    "{\"ph\":\"X\",\"cat\":\"" category "\",\"name\":\"" name "\",\"pid\":" #pid ",\"ts\":" #ts \
    ",\"dur\":" #dur ",\"args\":{" args "}},"
#define NOTE(name, pid, ts, dur) EVENT("user_annotation", name, pid, ts, dur, "")

/* Steps of 100, 40, 50 and 1 us; rank 1's are not looked at. */
static const char ranks[] =
    "{\"distributedInfo\":{\"world_size\":2},\"traceEvents\":[" NOTE("ProfilerStep#0", 100, 0, 100)
        NOTE("ProfilerStep#1", 100, 200, 40) NOTE("ProfilerStep#2", 100, 300, 50)
            NOTE("ProfilerStep#3", 100, 400, 1) NOTE("ProfilerStep#0", 200, 0, 1000)
                NOTE("forward", 100, 300, 20) NOTE("optimizer", 100, 320, 30)
                    NOTE("optimizer", 100, 325, 20) NOTE("forward", 100, 200, 20)
                        EVENT("cpu_op", "matmul", 100, 301, 5,
                              "\"phase\":\"forward\",\"scope\":\"layer.0/attn\"")
                            EVENT("cpu_op", "matmul", 200, 301, 5, "\"phase\":\"forward\"")
                                EVENT("cpu_op", "all_gather", 100, 302, 9,
                                      "\"phase\":\"forward\",\"category\":\"communication\","
                                      "\"tensor\":\"all of x\"")
                                    EVENT("cpu_op", "wait for communication", 100, 306, 5,
                                          "\"phase\":\"forward\"") "7]}";

static json_t *timeline(const char *text)
{
    json_t *trace = json_loads(text, 0, NULL), *out = NULL;
    assert_non_null(trace);
    assert_int_equal(step_timeline_make(&out, trace), ST_OK);
    json_decref(trace);
    return out;
}

static const json_t *events_of(const json_t *step, size_t track, const char *name, size_t n)
{
    const json_t *of = json_array_get(json_object_get(step, "tracks"), track);
    assert_string_equal(json_string_value(json_object_get(of, "name")), name);
    assert_int_equal(json_array_size(json_object_get(of, "events")), n);
    return json_object_get(of, "events");
}

static void assert_event(const json_t *events, size_t i, const char *name, double begin)
{
    const json_t *event = json_array_get(events, i);
    assert_string_equal(json_string_value(json_array_get(event, 0)), name);
    assert_true(fabs(json_number_value(json_array_get(event, 2)) - begin) < 1e-9);
}

/* Of four steps two are shorter than that of 50 us. */
static void the_step_in_the_middle(void **state)
{
    (void)state;
    json_t *step = timeline(ranks);
    assert_true(json_number_value(json_object_get(step, "end_us")) == 50);
    const json_t *phases =
        events_of(step, 0, "phases", 2); /* the range in the optimizer is left out */
    assert_event(phases, 0, "forward", 0);
    assert_event(phases, 1, "optimizer", 20);
    assert_event(events_of(step, 1, "work", 1), 0, "matmul layer.0/attn", 1);
    assert_event(events_of(step, 2, "waits", 1), 0, "wait for communication", 6);
    assert_event(events_of(step, 3, "communication", 1), 0, "all_gather all of x", 2);
    json_decref(step);
}

static void others_have_none(void **state)
{
    (void)state;
    assert_null(timeline("{\"traceEvents\":[" NOTE("ProfilerStep#0", 1, 0, 9) "1]}"));
    assert_null(timeline("{\"distributedInfo\":{},\"traceEvents\":[]}"));
    assert_null(timeline("{\"distributedInfo\":{\"world_size\":1},\"traceEvents\":[" NOTE(
        "ProfilerStep#0", 1, 0, 9) "1]}"));
    assert_null(timeline("{\"distributedInfo\":{},\"traceEvents\":7}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_step_in_the_middle),
        cmocka_unit_test(others_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
