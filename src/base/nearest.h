/* "Did you mean ...?" */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

/* Damerau-Levenshtein: insertions, deletions, substitutions and swaps of neighbours; letters match
 * whatever their case. Only the first NEAREST_LENGTH bytes of each count. */
enum { NEAREST_LENGTH = 64 };
int nearest_distance(const char *a, const char *b);

/* The word closest to `word`, or NULL when none is close enough to be what was meant. */
const char *nearest_of(const char *word, const char *const *words, int n);

#endif
