#include "mutator.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- what stands in its place ---- */

static json_t *extreme_number(Mutator *m)
{
    static const json_int_t whole[] = {0,         -1,        1,          2,
                                       3,         65536,     2147483647, 2147483648,
                                       INT64_MAX, INT64_MIN, 1 << 20,    1000000000000};
    static const double real[] = {0.0,    -0.0, 1e-320, 1e300,
                                  -1e300, 0.5,  1e18,   1.7976931348623157e308};
    if (mutator_below(m, 2))
        return json_integer(whole[mutator_below(m, (int)(sizeof whole / sizeof *whole))]);
    return json_real(real[mutator_below(m, (int)(sizeof real / sizeof *real))]);
}

static json_t *hostile_text(Mutator *m)
{
    static const char *const texts[] = {
        "",
        "ok",
        "oom",
        "failed",
        "\n",
        "a\x1b[31mb",
        "\xe2\x80\xa8#read(\"x\")",
        "=cmd|' /C calc'!A1",
        "</script><script>",
        "\\input{x}",
        "%s%n%s",
        "../../x",
        "fp32",
        "tiny",
        "cuda:0",
        "\xc2\x85",
        "--out-json /tmp/x",
        "|`*_#",
        "'; DROP TABLE results; --",
        "\xed\xa0\x80",
    };
    char *longer = NULL;
    if (mutator_below(m, 12)) {
        const char *text = texts[mutator_below(m, (int)(sizeof texts / sizeof *texts))];
        return json_string_nocheck(text);
    }
    const size_t n = (size_t)mutator_below(m, 5000);
    longer = calloc(n + 1, 1);
    if (longer) memset(longer, 'x', n);
    json_t *made = json_string(longer ? longer : "");
    free(longer);
    return made;
}

/* Lists in lists, and objects in objects. */
static json_t *deep(Mutator *m)
{
    json_t *at = json_integer(1);
    const bool lists = mutator_below(m, 2);
    for (int n = 1 << mutator_below(m, 12); n > 0; n--)
        at = lists ? json_pack("[o]", at) : json_pack("{s:o}", "a", at);
    return at;
}

static json_t *other_value(Mutator *m)
{
    switch (mutator_below(m, 8)) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(mutator_below(m, 2));
    case 2:
        return json_object();
    case 3:
        return json_array();
    case 4:
        return deep(m);
    case 5:
        return hostile_text(m);
    default:
        return extreme_number(m);
    }
}

/* ---- where ---- */

typedef struct Place {
    json_t *in; /* the object or list that holds it; */
    json_t *value;
    const char *name; /* in an object, */
    size_t index;     /* or in a list */
} Place;

/* The n-th value below, counted from 0; n is what is left of it otherwise. */
static bool find(json_t *in, int *n, Place *place, int depth)
{
    const char *name;
    json_t *value;
    size_t i;
    if (depth > 200) return false;
    json_object_foreach(in, name, value)
    {
        if ((*n)-- == 0) *place = (Place){in, value, name, 0};
        if (place->in || find(value, n, place, depth + 1)) return true;
    }
    json_array_foreach(in, i, value)
    {
        if ((*n)-- == 0) *place = (Place){in, value, NULL, i};
        if (place->in || find(value, n, place, depth + 1)) return true;
    }
    return false;
}

static int count(json_t *in)
{
    int n = 1 << 30;
    Place none = {0};
    (void)find(in, &n, &none, 0);
    return (1 << 30) - n;
}

/* Takes the value over. */
static void put(const Place *at, json_t *value)
{
    if (at->name)
        json_object_set_new_nocheck(at->in, at->name, value);
    else
        json_array_set_new(at->in, at->index, value);
}

static void remove_value(const Place *at)
{
    if (at->name)
        json_object_del(at->in, at->name);
    else
        json_array_remove(at->in, at->index);
}

/* Once more, under another name or after it. */
static void repeat(Mutator *m, const Place *at)
{
    char name[64];
    json_t *copy = json_deep_copy(at->value);
    snprintf(name, sizeof name, "%.40s%d", at->name ? at->name : "", mutator_below(m, 3));
    if (at->name)
        json_object_set_new_nocheck(at->in, name, copy);
    else
        json_array_insert_new(at->in, at->index, copy);
}

static void change_place(Mutator *m, const Place *at, json_t *root, int values)
{
    Place other = {0};
    int n = mutator_below(m, values);
    switch (mutator_below(m, 8)) {
    case 0:
        remove_value(at);
        break;
    case 1:
        repeat(m, at);
        break;
    case 2:
    case 3: /* what stands elsewhere: of a right kind, in a wrong place */
        if (find(root, &n, &other, 0)) put(at, json_deep_copy(other.value));
        break;
    default:
        put(at, other_value(m));
    }
}

/* ---- all of it ---- */

/* Takes the text apart, and puts it together again. */
static bool change(Mutator *m, Text *text, size_t from, size_t n)
{
    json_t *root = json_loadb(text_str(text) + from, n, 0, NULL);
    const int values = root ? count(root) : 0;
    Place at = {0};
    int nth = values > 0 ? mutator_below(m, values) : 0;
    if (values > 0 && find(root, &nth, &at, 0)) change_place(m, &at, root, values);
    char *dump = at.in ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!dump) return false;
    Text made = {0};
    text_append(&made, text_str(text), from);
    text_puts(&made, dump);
    text_append(&made, text_str(text) + from + n, text->n - from - n);
    free(dump);
    const bool fits = made.n < MUTATOR_MOST;
    if (fits) {
        text_free(text);
        *text = made;
    } else {
        text_free(&made);
    }
    return fits;
}

bool mutator_json_change(Mutator *m, Text *text)
{
    const char *data = text_str(text);
    if (text->n == 0 || !strchr("{[", data[0])) return false;
    if (change(m, text, 0, text->n)) return true;
    size_t from = (size_t)mutator_below(m, (int)text->n);
    data = text_str(text);
    while (from > 0 && data[from - 1] != '\n') from--;
    const char *end = memchr(data + from, '\n', text->n - from);
    return change(m, text, from, end ? (size_t)(end - data) - from : text->n - from);
}
