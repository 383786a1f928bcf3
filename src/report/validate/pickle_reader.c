#include "base/json_reader.h"
#include "report/memory/pickle_writer.h"
#include "report/validate/validate.h"

#include <stdint.h>
#include <stdlib.h>

enum { PROTO = 0x80, TUPLE2 = 0x86, NEWTRUE = 0x88, NEWFALSE = 0x89, LONG1 = 0x8a };

/* The least memory of a value that is not shared. */
static const size_t VALUE_BYTES = 64;

/* A value, owned. A list may hold another many times, and so on upwards: `written_out` counts
 * every value wherever it stands, as the same file as JSON would. */
typedef struct Item {
    json_t *value; /* NULL: a mark */
    int depth;     /* of lists and dictionaries within each other */
    size_t written_out;
    size_t memo;   /* its place there, from 1 on; 0: none */
    bool recalled; /* in the memo: others may hold it, so that it stays as it is */
} Item;

typedef struct Items {
    Item *list;
    size_t n, room;
} Items;

typedef struct Reader {
    const unsigned char *at, *end;
    Items stack, memo;
} Reader;

static Status bad(const char *why)
{
    return FAIL(ST_FAILED, "no pickle of a memory snapshot: %s", why);
}

/* Takes the value over. */
static Status push(Items *items, Item item)
{
    if (items->n == items->room) {
        const size_t room = items->room ? 2 * items->room : 1024;
        Item *list = json_reader_take((room - items->room) * sizeof *list)
                         ? realloc(items->list, room * sizeof *list)
                         : NULL;
        if (!list) {
            json_decref(item.value);
            return NO_MEMORY("for a pickle");
        }
        items->list = list;
        items->room = room;
    }
    items->list[items->n++] = item;
    return ST_OK;
}

static Status push_new(Reader *r, json_t *value)
{
    const Item item = {
        .value = value, .written_out = 1, .depth = json_is_object(value) || json_is_array(value)};
    return value ? push(&r->stack, item) : bad("text that is not UTF-8, or no memory");
}

static void items_free(Items *items)
{
    for (size_t i = 0; i < items->n; i++) json_decref(items->list[i].value);
    free(items->list);
}

/* `n` bytes, the lowest first. */
static Status read_low(Reader *r, int n, uint64_t *value)
{
    *value = 0;
    if (r->end - r->at < n) return bad("it is cut short");
    for (int i = 0; i < n; i++) *value |= (uint64_t)*r->at++ << (8 * i);
    return ST_OK;
}

static Status read_int(Reader *r, int n, bool is_signed)
{
    uint64_t value = 0;
    if (n < 1 || n > 8) return bad("a number of that many bytes");
    TRY(read_low(r, n, &value));
    const uint64_t sign = UINT64_C(1) << (8 * n - 1);
    if (is_signed && n < 8) value = (value ^ sign) - sign;
    return push_new(r, json_integer((json_int_t)value));
}

static Status read_long(Reader *r)
{
    uint64_t n = 0;
    TRY(read_low(r, 1, &n));
    return read_int(r, (int)n, true);
}

static Status read_text(Reader *r)
{
    uint64_t n = 0;
    TRY(read_low(r, 4, &n));
    if ((uint64_t)(r->end - r->at) < n) return bad("it is cut short");
    const char *text = (const char *)r->at;
    r->at += n;
    return push_new(r, json_stringn(text, n));
}

/* ---- the memo ---- */

static Status keep(Reader *r, int n)
{
    uint64_t index = 0;
    TRY(read_low(r, n, &index));
    Item *top = r->stack.n ? &r->stack.list[r->stack.n - 1] : NULL;
    if (index != r->memo.n || !top || !top->value || top->memo) return bad("a memo out of order");
    top->memo = r->memo.n + 1;
    json_incref(top->value);
    return push(&r->memo, *top);
}

static Status recall(Reader *r, int n)
{
    uint64_t index = 0;
    TRY(read_low(r, n, &index));
    if (index >= r->memo.n) return bad("a memo that is not there");
    Item *item = &r->memo.list[index];
    item->recalled = true;
    json_incref(item->value);
    return push(&r->stack, *item);
}

/* ---- lists and dictionaries ---- */

/* Updates the depth and size of `into`, which will hold `held`. close() refuses a list that would
 * hold itself. */
static Status hold(Item *into, const Item *held)
{
    if (held->depth + 1 > into->depth) into->depth = held->depth + 1;
    if (into->depth > PICKLE_WRITER_DEPTH) return bad("it is nested too deeply");
    into->written_out += held->written_out;
    return into->written_out <= json_reader_room() / VALUE_BYTES
               ? ST_OK
               : bad("it holds the same values too often: written out it would not fit into "
                     "memory");
}

/* The index behind the last mark; 0: there is none. */
static size_t find_mark(const Items *s)
{
    size_t mark = s->n;
    while (mark > 0 && s->list[mark - 1].value) mark--;
    return mark;
}

static void pop_to(Items *s, size_t n)
{
    while (s->n > n) json_decref(s->list[--s->n].value);
}

/* Puts the items above the mark into `into`. */
static Status fill(Reader *r, size_t mark, Item *into, bool dictionary)
{
    const Items *s = &r->stack;
    for (size_t i = mark; i < s->n; i += dictionary ? 2 : 1) {
        const Item *value = &s->list[dictionary ? i + 1 : i];
        TRY(hold(into, value));
        const int failed =
            dictionary
                ? json_object_set(into->value, json_string_value(s->list[i].value), value->value)
                : json_array_append(into->value, value->value);
        if (failed) return bad("a key that is no text, or no memory");
    }
    return ST_OK;
}

/* Puts the items above the last mark into the list or dictionary below it. */
static Status close(Reader *r, bool dictionary)
{
    Items *s = &r->stack;
    const size_t mark = find_mark(s);
    Item *into = mark > 1 ? &s->list[mark - 2] : NULL;
    if (!into || (dictionary ? !json_is_object(into->value) || (s->n - mark) % 2
                             : !json_is_array(into->value)))
        return bad("an end without a beginning");
    Item *kept = into->memo ? &r->memo.list[into->memo - 1] : NULL;
    if (kept && kept->recalled) return bad("a list that is added to where it is referred to");
    TRY(fill(r, mark, into, dictionary));
    if (kept) kept->depth = into->depth, kept->written_out = into->written_out;
    pop_to(s, mark - 1);
    return ST_OK;
}

/* Replaces the stack above `from` by one list or dictionary of the items above `mark`. */
static Status wrap(Reader *r, size_t from, size_t mark, bool dictionary)
{
    Item made = {.value = dictionary ? json_object() : json_array(), .written_out = 1, .depth = 1};
    const Status status = made.value ? fill(r, mark, &made, dictionary) : bad("no memory");
    if (status != ST_OK) {
        json_decref(made.value);
        return status;
    }
    pop_to(&r->stack, from);
    return push(&r->stack, made);
}

/* A dictionary of the items above the last mark. */
static Status make_dictionary(Reader *r)
{
    const size_t mark = find_mark(&r->stack);
    if (mark == 0 || (r->stack.n - mark) % 2) return bad("an end without a beginning");
    return wrap(r, mark - 1, mark, true);
}

static Status pair(Reader *r)
{
    const Items *s = &r->stack;
    if (s->n < 2 || !s->list[s->n - 1].value || !s->list[s->n - 2].value) return bad("half a pair");
    return wrap(r, s->n - 2, s->n - 2, false);
}

/* ---- opcodes ---- */

static Status read_op(Reader *r, int op)
{
    switch (op) {
    case '(':
        return push(&r->stack, (Item){0});
    case 'e':
    case 'u':
        return close(r, op == 'u');
    case 'd':
        return make_dictionary(r);
    case TUPLE2:
        return pair(r);
    case 'q':
    case 'r':
        return keep(r, op == 'q' ? 1 : 4);
    case 'h':
    case 'j':
        return recall(r, op == 'h' ? 1 : 4);
    case '}':
        return push_new(r, json_object());
    case ']':
        return push_new(r, json_array());
    case 'X':
        return read_text(r);
    case 'K':
    case 'M':
        return read_int(r, op == 'K' ? 1 : 2, false);
    case 'J':
        return read_int(r, 4, true);
    case LONG1:
        return read_long(r);
    case NEWTRUE:
    case NEWFALSE:
        return push_new(r, json_boolean(op == NEWTRUE));
    default:
        return bad("an opcode that such a file does not have");
    }
}

static Status read_all(Reader *r)
{
    if (r->end - r->at < 2 || r->at[0] != PROTO || r->at[1] != 2) return bad("not of protocol 2");
    r->at += 2;
    while (r->at < r->end) {
        const int op = *r->at++;
        if (op == '.')
            return r->stack.n == 1 && r->stack.list[0].value && r->at == r->end
                       ? ST_OK
                       : bad("it ends too early");
        TRY(read_op(r, op));
    }
    return bad("it is cut short");
}

Status pickle_reader_parse(json_t **out, const char *path, const Text *text)
{
    const unsigned char *bytes = (const unsigned char *)text_str(text);
    Reader r = {.at = bytes, .end = bytes + text->n};
    json_reader_begin();
    Status status = read_all(&r);
    *out = status == ST_OK ? json_incref(r.stack.list[0].value) : NULL;
    items_free(&r.stack);
    items_free(&r.memo);
    const Status room = json_reader_end(path, text->n);
    return room != ST_OK ? room : status;
}
