/* The timeline of a cell takes as much as its blocks, whatever numbers they hold. */
#include "report/page/page_memory.h"
#include "with_cmocka.h"

static size_t timelines(json_int_t died, int blocks, size_t *nodes)
{
    json_t *list = json_array(), *out = NULL;
    for (int i = 0; i < blocks; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:i}", "name", "x", "use",
                                        "parameters", "phase", "forward", "scope", "layer.0",
                                        "born", i, "died", died, "bytes", 1 << 20));
    json_t *cells = json_pack("[{s:s, s:o}]", "size", "small", "blocks", list);
    assert_int_equal(page_memory_timelines(&out, cells), ST_OK);
    const size_t n = json_array_size(out);
    *nodes = json_array_size(json_object_get(json_array_get(out, 0), "phases"));
    json_decref(cells);
    json_decref(out);
    return n;
}

static void test_nodes(void **state)
{
    (void)state;
    size_t nodes;
    assert_int_equal(timelines(99, 10, &nodes), 1);
    assert_int_equal(nodes, 100);
    assert_int_equal(timelines(1000000, 10, &nodes), 0);
    assert_int_equal(timelines(INT64_MAX, 10, &nodes), 0);
    assert_int_equal(timelines(20000, 400, &nodes), 1);
    assert_int_equal(nodes, 20001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
