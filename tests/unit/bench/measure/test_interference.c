#include "bench/measure/interference.h"
#include "with_cmocka.h"

#include <math.h>
#include <unistd.h>

/* After the given seconds of all CPUs together. */
static Interference after(double total, double idle, double steal, double own)
{
    const double per_second = (double)sysconf(_SC_CLK_TCK);
    const Interference x = {.ticks = {.total = (int64_t)(total * per_second),
                                      .idle = (int64_t)(idle * per_second),
                                      .steal = (int64_t)(steal * per_second)},
                            .own = own};
    return x;
}

static void assert_shares(Interference then, Interference now, double others, double steal,
                          double seconds)
{
    const InterferenceShares x = interference_between(&then, &now);
    assert_true(fabs(x.others - others) < 1e-12 && fabs(x.steal - steal) < 1e-12);
    assert_true(fabs(x.seconds - seconds) < 1e-12);
}

static void test_shares(void **state)
{
    (void)state;
    const Interference start = after(100, 50, 5, 7);
    assert_shares(start, after(110, 52, 6, 11), 0.3, 0.1,
                  10); /* 10 = 2 idle, 1 stolen, 4 own, 3 others */
    assert_shares(start, after(110, 60, 5, 7), 0, 0, 10);
    assert_shares(start, after(110, 50, 5, 7), 1, 0, 10);
    assert_shares(start, after(110, 50, 5, 27), 0, 0,
                  10); /* own time is counted finer than ticks */
    assert_shares(start, after(110, 60, 3, 7), 0.2, 0, 10); /* a counter of stolen time that fell */
    assert_shares(start, start, 0, 0, 0);                   /* the kernel does not tell */
}

/* Counters of this machine only grow, and shares are shares, whatever else runs here. */
static void test_here(void **state)
{
    (void)state;
    const Interference before = interference_now();
    usleep(50000);
    const InterferenceShares x = interference_since(&before);
    assert_true(x.others >= 0 && x.others <= 1 && x.steal >= 0 && x.steal <= 1 && x.seconds >= 0);
    assert_true(interference_now().own >= before.own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shares), cmocka_unit_test(test_here)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
