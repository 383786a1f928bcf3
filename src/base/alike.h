/* Which of a number of things go by the same text, found in one pass over them. */
#ifndef BASE_ALIKE_H
#define BASE_ALIKE_H

#include "base/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct AlikeLink {
    bool leads;
    size_t next;
} AlikeLink;

typedef struct Alike {
    AlikeLink *links;
    size_t n;
    json_t *last; /* text -> the last thing so far */
} Alike;

/* Of `n` things, numbered from 0 on. The caller frees it, after a failure too. */
Status alike_init(Alike *alike, size_t n);
void alike_free(Alike *alike);
/* Thing `i` goes by this text, in UTF-8; those that are never put are like no other. In rising order. */
Status alike_put(Alike *alike, size_t i, const char *text);
/* Is it the first of its text? */
bool alike_leads(const Alike *alike, size_t i);
/* The next of its text; `n` when it is the last. */
size_t alike_next(const Alike *alike, size_t i);

#endif
