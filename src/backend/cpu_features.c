#include "backend/cpu_features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 32 }; /* word, with its end */

/* The first word of a list; `list` goes on to the next one. False at the end. */
static bool next_word(const char **list, char word[LONGEST])
{
    if (!*list || !**list) return false;
    const size_t n = strcspn(*list, ","), kept = n < LONGEST ? n : LONGEST - 1;
    memcpy(word, *list, kept);
    word[kept] = '\0';
    *list += n + ((*list)[n] == ',');
    return true;
}

static bool hidden(const char *word)
{
    char other[LONGEST];
    for (const char *list = getenv("ROOFSTEP_CPU_HIDE"); next_word(&list, other);) {
        if (strcmp(other, word) == 0 || strcmp(other, "all") == 0) return true;
    }
    return false;
}

bool cpu_features_has(const char *words)
{
    char word[LONGEST];
    bool all = *words != '\0';
    while (all && next_word(&words, word)) all = cpu_features_hardware(word) && !hidden(word);
    return all;
}

CpuFeatureList cpu_features_hidden(const char *features)
{
    CpuFeatureList list = {""};
    size_t used = 0;
    for (size_t n; *features; features += n + (features[n] == ' ')) {
        char word[LONGEST];
        n = strcspn(features, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, features);
        if (!hidden(word) || used + n + 2 > sizeof list.s) continue;
        used +=
            (size_t)snprintf(list.s + used, sizeof list.s - used, "%s%s", used ? " " : "", word);
    }
    return list;
}
