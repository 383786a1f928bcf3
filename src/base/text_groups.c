#include "base/text_groups.h"

#include <stdlib.h>

Status text_groups_init(TextGroups *alike, size_t n)
{
    *alike =
        (TextGroups){.links = calloc(n + 1, sizeof *alike->links), .n = n, .last = json_object()};
    if (!alike->links || !alike->last) return NO_MEMORY("to group %zu texts", alike->n);
    for (size_t i = 0; i < n; i++) alike->links[i].next = n;
    return ST_OK;
}

void text_groups_free(TextGroups *alike)
{
    free(alike->links);
    json_decref(alike->last);
    *alike = (TextGroups){0};
}

Status text_groups_put(TextGroups *alike, size_t i, const char *text)
{
    json_t *before = json_object_get(alike->last, text);
    alike->links[i].leads = !before;
    if (!before)
        return json_object_set_new(alike->last, text, json_integer((json_int_t)i))
                   ? NO_MEMORY("to group %zu texts", alike->n)
                   : ST_OK;
    alike->links[json_integer_value(before)].next = i;
    json_integer_set(before, (json_int_t)i);
    return ST_OK;
}

bool text_groups_leads(const TextGroups *alike, size_t i)
{
    return alike->links[i].leads;
}

size_t text_groups_next(const TextGroups *alike, size_t i)
{
    return alike->links[i].next;
}
