#include "comm/rank_cores.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool allowed[PROC_TEXT_CPUS], own[PROC_TEXT_CPUS];
static char root[] = "/tmp/roofstep-cores-XXXXXX";

/* A machine of 4 cores with 2 hardware threads each: processor i + 4 is the second of core i. */
static int set_up(void **state)
{
    (void)state;
    char command[256];
    if (!mkdtemp(root)) return -1;
    for (int cpu = 0; cpu < 8; cpu++) {
        snprintf(command, sizeof command,
                 "d=%s/sys/devices/system/cpu/cpu%d/topology; mkdir -p $d && "
                 "echo %d,%d >$d/thread_siblings_list",
                 root, cpu, cpu % 4, cpu % 4 + 4);
        if (system(command) != 0) return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void assert_share(const char *list, int rank, int ranks, const char *expected)
{
    char text[64] = "";
    proc_text_cpu_list(list, allowed);
    const int n = rank_cores_share(allowed, rank, ranks, root, own);
    int count = 0;
    for (int cpu = 0; cpu < PROC_TEXT_CPUS; cpu++) {
        if (!own[cpu]) continue;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d ", cpu);
        count++;
    }
    assert_int_equal(n, count);
    assert_string_equal(text, expected);
}

static void test_whole_cores(void **state)
{
    (void)state;
    assert_share("0-7", 0, 1, "0 1 2 3 4 5 6 7 ");
    assert_share("0-7", 0, 2, "0 1 4 5 ");
    assert_share("0-7", 1, 2, "2 3 6 7 ");
    assert_share("0-7", 0, 3, "0 4 ");
    assert_share("0-7", 1, 3, "1 5 ");
    assert_share("0-7", 2, 3, "2 3 6 7 ");
    assert_share("0-7", 3, 4, "3 7 ");
    assert_share("2,3,6", 0, 2, "2 6 ");
    assert_share("2,3,6", 1, 2, "3 ");
}

static void test_too_few(void **state)
{
    (void)state;
    assert_share("0-7", 0, 5, "");
    assert_share("1,5", 1, 2, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_cores),
        cmocka_unit_test(test_too_few),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
