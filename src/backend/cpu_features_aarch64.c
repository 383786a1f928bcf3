#include "backend/cpu_features.h"

#include <asm/hwcap.h>
#include <string.h>
#include <sys/auxv.h>

static const struct {
    const char *word;
    unsigned long where, bit;
} features[] = {{"asimd", AT_HWCAP, HWCAP_ASIMD}, {"bf16", AT_HWCAP2, HWCAP2_BF16}};

bool cpu_features_hardware(const char *word)
{
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        if (strcmp(features[i].word, word) == 0) {
            return (getauxval(features[i].where) & features[i].bit) != 0;
        }
    }
    return false;
}
