/* Links: read from text, found among the limits, and the time of rings over them. */
#include "base/json_text.h"
#include "bench/limits/comm_link.h"
#include "bench/limits/limits_json.h"
#include "with_cmocka.h"

#include <math.h>
#include <string.h>

static void assert_about(double x, double wanted)
{
    if (!(fabs(x - wanted) <= 1e-12 * fabs(wanted))) fail_msg("%.15g, not %.15g", x, wanted);
}

static void parses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double bandwidth, latency;
    } good[] = {{"450GB/s,5us", 450e9, 5e-6},
                {"50GiB/s,0.01ms", 50 * 0x1p30, 1e-5},
                {"800MB/s,900ns", 8e8, 9e-7},
                {"1.5TB/s,0s", 1.5e12, 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CommLink link;
        assert_int_equal(comm_link_parse(good[i].text, &link), ST_OK);
        assert_about(link.bandwidth, good[i].bandwidth);
        assert_about(link.latency, good[i].latency);
    }
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {{"", "BANDWIDTH,LATENCY"},    {"450GB/s", "BANDWIDTH,LATENCY"},
               {"450GB,5us", "bandwidth"},   {"450,5us", "bandwidth"},
               {"-1GB/s,5us", "bandwidth"},  {"0GB/s,5us", "above 0"},
               {"nanGB/s,5us", "bandwidth"}, {"1e300TB/s,5us", "too large"},
               {"450GB/s,5", "latency"},     {"450GB/s,5m", "latency"},
               {"450GB/s,-5us", "time"},     {"450GB/s,5us,", "time"},
               {"450GB/s,", "time"},         {",5us", "bandwidth"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CommLink link;
        assert_int_equal(comm_link_parse(bad[i].text, &link), ST_USAGE);
        if (!strstr(status_message(), bad[i].says))
            fail_msg("%s: %s", bad[i].text, status_message());
    }
}

/* The formulas of comm_link.h with a = 3 us, b = 1 GB/s. */
static void rings(void **state)
{
    (void)state;
    CommLinks links = {0};
    comm_link_set_all(&links, (CommLink){3e-6, 1e9});
    assert_about(comm_link_seconds(&links, COLLECTIVE_ALL_REDUCE, 4e6, 4), 6 * (3e-6 + 1e-3));
    assert_about(comm_link_seconds(&links, COLLECTIVE_ALL_GATHER, 4e6, 4), 3 * (3e-6 + 1e-3));
    assert_about(comm_link_seconds(&links, COLLECTIVE_REDUCE_SCATTER, 4e6, 4), 3 * (3e-6 + 1e-3));
    assert_about(comm_link_seconds(&links, COLLECTIVE_BROADCAST, 4e6, 4), 3 * 3e-6 + 4e-3);
    for (int op = 0; op < COLLECTIVE_COUNT; op++)
        assert_true(comm_link_seconds(&links, (Collective)op, 4e6, 1) == 0);
}

/* Two nodes of four ranks, between nodes a = 10 us and b = 0.1 GB/s. */
static void nodes(void **state)
{
    (void)state;
    CommLinks links = {.between = {1e-5, 1e8}, .ranks_per_node = 4};
    comm_link_set_all(&links, (CommLink){3e-6, 1e9});
    const double in_node = 3 * (3e-6 + 1e-3); /* of 4 MB over 4 ranks */
    const double half = 1e-5 + 0.5e-2;        /* of 1 MB over 2 ranks, one way */
    assert_about(comm_link_seconds(&links, COLLECTIVE_ALL_REDUCE, 4e6, 8), 2 * in_node + 2 * half);
    assert_about(comm_link_seconds(&links, COLLECTIVE_ALL_GATHER, 4e6, 8), in_node + half);
    assert_about(comm_link_seconds(&links, COLLECTIVE_REDUCE_SCATTER, 4e6, 8), in_node + half);
    assert_about(comm_link_seconds(&links, COLLECTIVE_BROADCAST, 4e6, 8),
                 3 * 3e-6 + 4e-3 + 1e-5 + 4e-2);
    assert_about(comm_link_seconds(&links, COLLECTIVE_ALL_GATHER, 4e6, 4), in_node);
    assert_true(isnan(comm_link_seconds(&links, COLLECTIVE_ALL_REDUCE, 4e6, 6)));
}

static void more_ranks_than_measured(void **state)
{
    (void)state;
    CommLinks links = {0};
    assert_true(comm_link_find(&links, COLLECTIVE_BROADCAST, 2).bandwidth == 0);
    links.link[0][COLLECTIVE_BROADCAST].bandwidth = 2;
    assert_true(comm_link_find(&links, COLLECTIVE_BROADCAST, 64).bandwidth == 2);
    links.link[1][COLLECTIVE_BROADCAST].bandwidth = 4;
    assert_true(comm_link_find(&links, COLLECTIVE_BROADCAST, 64).bandwidth == 4);
    assert_true(comm_link_find(&links, COLLECTIVE_BROADCAST, 3).bandwidth == 2);
}

/* What limits --format json writes of links comes back; files without them have none. */
static void among_limits(void **state)
{
    (void)state;
    Limits limits = {.time_utc = "2024-05-01T12:34:56Z"}, back;
    CommLinks links;
    assert_int_equal(limits_key(2, &limits.key), ST_OK);
    for (int without = 0; without < 2; without++) {
        CLEANUP(json_text_free) json_t *json = NULL;
        snprintf(limits.key.mpi, sizeof limits.key.mpi, "%s", without ? "" : "Open MPI");
        for (int op = 0; op < COLLECTIVE_COUNT; op++) {
            const double rate = 1e9 * (op + 1), time = 1e-6 * (op + 1);
            limits.rate[comm_link_bandwidth(0, (Collective)op)][LIMITS_ALL] =
                (LimitsRate){rate, rate, rate, 3};
            limits.rate[comm_link_latency(0, (Collective)op)][LIMITS_ALL] =
                (LimitsRate){time, time, time, 3};
        }
        assert_int_equal(limits_json_encode(&json, &limits), ST_OK);
        assert_int_equal(limits_json_decode(&back, json), ST_OK);
        assert_int_equal(comm_link_of_limits(&back, &links), !without);
        if (without) continue;
        const CommLink link = comm_link_find(&links, COLLECTIVE_REDUCE_SCATTER, 4);
        assert_about(link.bandwidth, 3e9);
        assert_about(link.latency, 3e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parses),
                                       cmocka_unit_test(refuses),
                                       cmocka_unit_test(rings),
                                       cmocka_unit_test(nodes),
                                       cmocka_unit_test(more_ranks_than_measured),
                                       cmocka_unit_test(among_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
