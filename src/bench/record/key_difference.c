#include "bench/record/key_difference.h"

#include <limits.h>
#include <string.h>

/* The value of a part: what follows its "=". */
static const char *value_of(const RecordKeyPart *part, int *length)
{
    const size_t start = part->name + (part->name < part->length);
    *length = (int)(part->length - start);
    return part->text + start;
}

static bool find_field(const char *key, const RecordKeyPart *like, RecordKeyPart *found)
{
    *found = (RecordKeyPart){key, 0, 0};
    while (record_key_next(found)) {
        if (found->name == like->name && strncmp(found->text, like->text, like->name) == 0)
            return true;
    }
    return false;
}

static bool equal(const RecordKeyPart *a, const RecordKeyPart *b)
{
    return a->length == b->length && strncmp(a->text, b->text, a->length) == 0;
}

static void put(Text *out, const RecordKeyPart *field, const RecordKeyPart *a,
                const RecordKeyPart *b, int before)
{
    int of_a = 1, of_b = 1;
    const char *text_a = a ? value_of(a, &of_a) : "-", *text_b = b ? value_of(b, &of_b) : "-";
    if (!out) return;
    text_printf(out, "%s%.*s (%.*s, %.*s)", before > 0 ? ", " : "", (int)field->name, field->text,
                of_a, text_a, of_b, text_b);
}

int key_difference_put(Text *out, const char *key_a, const char *key_b)
{
    int n = 0;
    RecordKeyPart other;
    for (RecordKeyPart part = {key_a, 0, 0}; record_key_next(&part);) {
        const bool there = find_field(key_b, &part, &other);
        if (there && equal(&part, &other)) continue;
        put(out, &part, &part, there ? &other : NULL, n++);
    }
    for (RecordKeyPart part = {key_b, 0, 0}; record_key_next(&part);) {
        if (!find_field(key_a, &part, &other)) put(out, &part, NULL, &part, n++);
    }
    return n;
}

static size_t looked_at(const RecordSet *set)
{
    const size_t n = record_set_size(set);
    return n < KEY_DIFFERENCE_MOST ? n : KEY_DIFFERENCE_MOST;
}

bool key_difference_nearest(const RecordSet *a, const RecordSet *b, const Record **of_a,
                            const Record **of_b)
{
    int least = INT_MAX;
    for (size_t i = 0; i < looked_at(a); i++) {
        const char *key_a = record_key(record_set_at(a, i));
        for (size_t k = 0; key_a && k < looked_at(b); k++) {
            const char *key_b = record_key(record_set_at(b, k));
            const int n = key_b ? key_difference_put(NULL, key_a, key_b) : INT_MAX;
            if (n >= least) continue;
            least = n;
            *of_a = record_set_at(a, i);
            *of_b = record_set_at(b, k);
        }
    }
    return least < INT_MAX;
}
