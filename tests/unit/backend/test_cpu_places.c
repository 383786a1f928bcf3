/* Threads run where the user puts them: OMP_PLACES and OMP_PROC_BIND, which the BLAS library's
 * OpenMP reads before main(). */
#include "backend/cpu_places.h"
#include "backend/openmp_library.h"
#include "backend/thread_team.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "with_cmocka.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACES = 2 };

static int processors[PLACES]; /* place i is processor i of these */

static void note_affinity(const void *data, int thread, int threads)
{
    cpu_set_t *const *sets = data;
    (void)threads;
    if (sched_getaffinity(0, sizeof **sets, &(*sets)[thread]) != 0) CPU_ZERO(&(*sets)[thread]);
}

static void expect_places(int threads, const int places[])
{
    cpu_set_t sets[8], *at = sets;
    thread_team_run(threads, note_affinity, &at);
    for (int i = 0; i < threads; i++) {
        assert_int_equal(CPU_COUNT(&sets[i]), 1);
        assert_true(CPU_ISSET((size_t)processors[places[i]], &sets[i]));
    }
}

static void threads_have_their_places(void **state)
{
    static bool in[PROC_TEXT_CPUS];
    (void)state;
    assert_int_equal(cpu_places(in), PLACES);
    expect_places(2, (const int[]){0, 1});
    expect_places(4, (const int[]){0, 0, 1, 1});
}

static void unbound_runs_on_every_place(void **state)
{
    cpu_set_t set;
    (void)state;
    cpu_places_unbind();
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(CPU_COUNT(&set), PLACES);
}

/* The first processors that this process may run on. */
static bool find_processors(void)
{
    cpu_set_t set;
    int n = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return false;
    for (int i = 0; i < CPU_SETSIZE && n < PLACES; i++) {
        if (CPU_ISSET((size_t)i, &set)) processors[n++] = i;
    }
    return n == PLACES;
}

int main(int argc, char **argv)
{
    enum { SKIPPED = 77 };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_have_their_places),
        cmocka_unit_test(unbound_runs_on_every_place),
    };
    char places[64];
    const char *set = getenv("TEST_CPU_PLACES");
    if (set) {
        if (sscanf(set, "{%d},{%d}", &processors[0], &processors[1]) != 2) return 1;
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    /* The name is there to have the BLAS linked. */
    if (!*blas_cpu_name() || !openmp_library()->get_num_places || !find_processors() || argc != 1)
        return SKIPPED;
    snprintf(places, sizeof places, "{%d},{%d}", processors[0], processors[1]);
    setenv("TEST_CPU_PLACES", places, 1);
    setenv("OMP_PLACES", places, 1);
    setenv("OMP_PROC_BIND", "close", 1);
    execv("/proc/self/exe", argv);
    return 1;
}
