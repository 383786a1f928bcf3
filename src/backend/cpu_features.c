#include "backend/cpu_features.h"

#include "backend/proc_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 32 }; /* word, with its end */

/* The first word of a list; *list moves to the next one. False at the end. Every matmul asks again
 * which micro-kernel runs: strcspn() is fast with one separator. */
static bool next_word(const char **list, const char *separator, char word[LONGEST])
{
    const size_t n = strcspn(*list, separator), kept = n < LONGEST ? n : LONGEST - 1;
    if (!**list) return false;
    memcpy(word, *list, kept);
    word[kept] = '\0';
    *list += n + ((*list)[n] != '\0');
    return true;
}

static bool hidden(const char *word)
{
    const char *list = getenv("ROOFSTEP_CPU_HIDE");
    return list && (proc_text_has_word(list, word) || proc_text_has_word(list, "all"));
}

bool cpu_features_has(const char *words)
{
    char word[LONGEST];
    bool all = *words != '\0';
    while (all && next_word(&words, ",", word)) all = cpu_features_hardware(word) && !hidden(word);
    return all;
}

CpuFeatureList cpu_features_hidden(const char *features)
{
    CpuFeatureList list = {""};
    char word[LONGEST];
    size_t used = 0;
    while (next_word(&features, " ", word)) {
        if (!hidden(word) || used + strlen(word) + 2 > sizeof list.s) continue;
        used +=
            (size_t)snprintf(list.s + used, sizeof list.s - used, "%s%s", used ? " " : "", word);
    }
    return list;
}
