#include "ops/meet_cpu.h"

#include "base/clock.h"

#include <omp.h>

enum {
    FEW = 4,
    PART = 4 /* a quarter: threads are late by a tenth as a rule */
};

Meeting meet_cpu(int64_t pieces, int threads)
{
    return (Meeting){pieces, threads > FEW && threads <= omp_get_num_procs()};
}

/* Leaves the core to the thread beside it for a moment. */
static void rest(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

void meet_cpu_wait(const Meeting *meeting, int64_t since)
{
    if (!meeting->awake) return;
    const int64_t now = clock_nanoseconds(), until = now + (now - since) / PART;
    while (__atomic_load_n(&meeting->left, __ATOMIC_RELAXED) > 0 && clock_nanoseconds() < until)
        rest();
}
