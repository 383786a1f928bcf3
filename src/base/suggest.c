#include "base/suggest.h"

#include "base/i64.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Three rows of the usual table suffice: this one and the two above it. */
int suggest_distance(const char *a, const char *b)
{
    int64_t rows[3][SUGGEST_LENGTH + 1];
    const int n = (int)strnlen(a, SUGGEST_LENGTH);
    const int m = (int)strnlen(b, SUGGEST_LENGTH);
    for (int j = 0; j <= m; j++) rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int64_t *row = rows[i % 3];
        const int64_t *above = rows[(i + 2) % 3];
        const int64_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            const int x = tolower((unsigned char)a[i - 1]);
            const int y = tolower((unsigned char)b[j - 1]);
            row[j] = i64_min(above[j - 1] + (x != y), i64_min(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]))
                row[j] = i64_min(row[j], two_above[j - 2] + 1);
        }
    }
    return (int)rows[n % 3][m];
}

const char *suggest_word(const char *word, const char *const *words, int n)
{
    const char *best = NULL;
    /* One slip in a short word, a third of a long one. */
    int bound = (int)strnlen(word, SUGGEST_LENGTH) / 3 + 1;
    for (int i = 0; i < n; i++) {
        const int distance = suggest_distance(word, words[i]);
        if (distance > bound || distance >= (int)strlen(words[i])) continue;
        best = words[i];
        bound = distance - 1;
    }
    return best;
}
