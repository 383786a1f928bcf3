#include "backend/cpu_features.h"

#include <stdlib.h>
#include <string.h>

static bool hidden(const char *word)
{
    const char *list = getenv("ROOFSTEP_CPU_HIDE");
    const size_t n = strlen(word);
    while (list && *list) {
        const size_t here = strcspn(list, ",");
        if (here == n && strncmp(list, word, n) == 0) return true;
        list += here + (list[here] == ',');
    }
    return false;
}

bool cpu_features_has(const char *word)
{
    return cpu_features_hardware(word) && !hidden(word);
}
