/* Groups items by text in one pass: items with the same text are linked in order. */
#pragma once

#include "base/text.h"

#include <jansson.h>

typedef struct TextGroupLink {
    bool leads;
    size_t next;
} TextGroupLink;

typedef struct TextGroups {
    TextGroupLink *links;
    size_t n;
    json_t *last; /* text -> the last item of its group so far */
} TextGroups;

/* For items 0 to n - 1. The caller frees it, after a failure too. */
Status text_groups_init(TextGroups *groups, size_t n);
void text_groups_free(TextGroups *groups);
/* Puts item `i` into the group of this text (UTF-8), and clears the text. Items must come in rising
 * order; an item that is never put is in no group. */
Status text_groups_put(TextGroups *groups, size_t i, Text *text);
/* Is item `i` the first of its group? */
bool text_groups_leads(const TextGroups *groups, size_t i);
/* The next item of the group; `n` after the last. */
size_t text_groups_next(const TextGroups *groups, size_t i);
