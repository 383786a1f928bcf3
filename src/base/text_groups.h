/* Which of a number of things go by the same text, found in one pass over them. */
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct TextGroupLink {
    bool leads;
    size_t next;
} TextGroupLink;

typedef struct TextGroups {
    TextGroupLink *links;
    size_t n;
    json_t *last; /* text -> the last thing so far */
} TextGroups;

/* Of `n` things, numbered from 0 on. The caller frees it, after a failure too. */
Status text_groups_init(TextGroups *alike, size_t n);
void text_groups_free(TextGroups *alike);
/* Thing `i` goes by this text, in UTF-8; those that are never put are like no other. In rising order. */
Status text_groups_put(TextGroups *alike, size_t i, const char *text);
/* Is it the first of its text? */
bool text_groups_leads(const TextGroups *alike, size_t i);
/* The next of its text; `n` when it is the last. */
size_t text_groups_next(const TextGroups *alike, size_t i);
