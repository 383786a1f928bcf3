#include "exec/waiting.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __x86_64__
static const bool too_long = true;
#else
static const bool too_long = false;
#endif

static const char setting[] = "GOMP_SPINCOUNT", turns[] = "1000"; /* 0.06 ms */
static const char mark[] = "ROOFSTEP_WAITS";                      /* the setting is ours */

/* The library has it; programs that this one starts are to wait as they like. */
static void forget(void)
{
    unsetenv(setting);
    unsetenv(mark);
}

void waiting_restart(char **argv)
{
    const bool started_so = getenv(mark);
    if (!started_so && (!too_long || getenv("OMP_WAIT_POLICY") || getenv(setting))) return;
    if (!started_so && setenv(setting, turns, 1) == 0 && setenv(mark, turns, 1) == 0) {
        execv("/proc/self/exe", argv);
    }
    forget();
}
