/* A cache folder of the test's own: nothing that is stored for this machine is read or lost. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

static char own_cache[64];

/* For cmocka: set up and tear down. */
static inline int own_cache_make(void **state)
{
    (void)state;
    snprintf(own_cache, sizeof own_cache, "/tmp/roofstep-test.XXXXXX");
    return mkdtemp(own_cache) && setenv("XDG_CACHE_HOME", own_cache, 1) == 0 ? 0 : -1;
}

static inline int own_cache_drop(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", own_cache);
    return system(command);
}
