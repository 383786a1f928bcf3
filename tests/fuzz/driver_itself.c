/* A harness with faults, for the driver to find: an input names the one it has. */
#include "harness.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void *volatile lost;
static volatile int large = INT_MAX;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n > 3 && memcmp(data, "leak", 4) == 0) lost = malloc(100);
    if (n > 5 && memcmp(data, "broken", 6) == 0) harness_fail("a promise is broken");
    if (n > 3 && memcmp(data, "read", 4) == 0) large = data[n];
    if (n > 3 && memcmp(data, "over", 4) == 0) large = large + 1;
    return 0;
}
