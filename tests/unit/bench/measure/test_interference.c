/* What another process used is among the others', what this one used is not. */
#include "bench/measure/interference.h"
#include "with_cmocka.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void burn(double seconds)
{
    const double end = used() + seconds;
    while (used() < end) continue;
}

static void test_child(void **state)
{
    (void)state;
    const double seconds = 0.6;
    const Interference before = interference_now();
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        burn(seconds);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    const InterferenceShares shares = interference_since(&before);
    assert_true(shares.others * shares.seconds > seconds / 2); /* the kernel counts coarsely */
    assert_true(shares.others <= 1 && shares.steal >= 0 && shares.steal <= 1);
}

static void test_own(void **state)
{
    (void)state;
    const Interference before = interference_now();
    burn(0.6);
    const InterferenceShares shares = interference_since(&before);
    assert_true((1 - shares.others) * shares.seconds > 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_child), cmocka_unit_test(test_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
