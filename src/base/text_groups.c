#include "base/text_groups.h"

#include <stdlib.h>

Status text_groups_init(TextGroups *groups, size_t n)
{
    *groups =
        (TextGroups){.links = calloc(n + 1, sizeof *groups->links), .n = n, .last = json_object()};
    if (!groups->links || !groups->last) return NO_MEMORY("to group %zu texts", groups->n);
    for (size_t i = 0; i < n; i++) groups->links[i].next = n;
    return ST_OK;
}

void text_groups_free(TextGroups *groups)
{
    free(groups->links);
    json_decref(groups->last);
    *groups = (TextGroups){0};
}

Status text_groups_put(TextGroups *groups, size_t i, Text *text)
{
    int failed = text->failed;
    json_t *before = json_object_get(groups->last, text_str(text));
    groups->links[i].leads = !before;
    if (before) {
        groups->links[json_integer_value(before)].next = i;
        json_integer_set(before, (json_int_t)i);
    } else {
        failed |=
            json_object_set_new(groups->last, text_str(text), json_integer((json_int_t)i)) != 0;
    }
    text_clear(text);
    return failed ? NO_MEMORY("to group %zu texts", groups->n) : ST_OK;
}

bool text_groups_leads(const TextGroups *groups, size_t i)
{
    return groups->links[i].leads;
}

size_t text_groups_next(const TextGroups *groups, size_t i)
{
    return groups->links[i].next;
}
