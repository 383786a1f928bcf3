#include "backend/cpu_features.h"

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

const char *cpu_features_hidden(void)
{
    const char *list = getenv("ROOFSTEP_CPU_HIDE");
    return list && *list ? list : NULL;
}

static bool hidden(const char *word)
{
    char other[LONGEST];
    for (const char *list = cpu_features_hidden(); next_word(&list, other);) {
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
