#include "backend/cpu_features.h"

/* No kernel asks yet: what plain C needs is chosen by CPU_CLONES. */
bool cpu_features_hardware(const char *word)
{
    (void)word;
    return false;
}
