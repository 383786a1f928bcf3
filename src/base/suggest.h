/* "Did you mean ...?" */
#pragma once

/* Damerau-Levenshtein: insertions, deletions, substitutions and swaps of neighbours; letters match
 * whatever their case. Only the first SUGGEST_LENGTH bytes of each count. */
enum { SUGGEST_LENGTH = 64 };
int suggest_distance(const char *a, const char *b);

/* The word closest to `word`, or NULL when none is close enough to be what was meant. */
const char *suggest_word(const char *word, const char *const *words, int n);
