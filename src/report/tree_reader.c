#include "report/tree_reader.h"

#include <stdint.h>
#include <stdlib.h>

enum { PROTO = 0x80, TUPLE2 = 0x86, NEWTRUE = 0x88, NEWFALSE = 0x89, LONG1 = 0x8a };

/* Values, each owned; a NULL in the stack is a mark. */
typedef struct Values {
    json_t **list;
    size_t n, room;
} Values;

typedef struct Reader {
    const unsigned char *at, *end;
    Values stack, memo;
} Reader;

static Status bad(const char *why)
{
    return FAIL(ST_FAILED, "no pickle of a memory snapshot: %s", why);
}

/* Takes the value over. */
static Status push(Values *values, json_t *value)
{
    if (values->n == values->room) {
        const size_t room = values->room ? 2 * values->room : 1024;
        json_t **list = realloc(values->list, room * sizeof *list);
        if (!list) {
            json_decref(value);
            return FAIL(ST_NO_MEMORY, "no memory for a pickle");
        }
        values->list = list;
        values->room = room;
    }
    values->list[values->n++] = value;
    return ST_OK;
}

static Status push_new(Reader *r, json_t *value)
{
    return value ? push(&r->stack, value) : bad("text that is not UTF-8, or no memory");
}

static void values_free(Values *values)
{
    for (size_t i = 0; i < values->n; i++) json_decref(values->list[i]);
    free(values->list);
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
    if (index != r->memo.n || r->stack.n == 0 || !r->stack.list[r->stack.n - 1])
        return bad("a memo out of order");
    return push(&r->memo, json_incref(r->stack.list[r->stack.n - 1]));
}

static Status recall(Reader *r, int n)
{
    uint64_t index = 0;
    TRY(read_low(r, n, &index));
    return index < r->memo.n ? push(&r->stack, json_incref(r->memo.list[index]))
                             : bad("a memo that is not there");
}

/* ---- lists and dictionaries ---- */

/* Puts what is above the last mark into what is below it. */
static Status close(Reader *r, bool dictionary)
{
    Values *s = &r->stack;
    size_t mark = s->n;
    while (mark > 0 && s->list[mark - 1]) mark--;
    json_t *into = mark > 1 ? s->list[mark - 2] : NULL;
    if (!into || (dictionary ? !json_is_object(into) || (s->n - mark) % 2 : !json_is_array(into)))
        return bad("an end without a beginning");
    int failed = 0;
    for (size_t i = mark; i < s->n && !failed; i += dictionary ? 2 : 1) {
        failed = dictionary ? json_object_set(into, json_string_value(s->list[i]), s->list[i + 1])
                            : json_array_append(into, s->list[i]);
    }
    while (s->n >= mark) json_decref(s->list[--s->n]);
    return failed ? bad("a key that is no text, or no memory") : ST_OK;
}

/* A dictionary of what is above the last mark. */
static Status make_dictionary(Reader *r)
{
    Values *s = &r->stack;
    size_t mark = s->n;
    while (mark > 0 && s->list[mark - 1]) mark--;
    if (mark == 0 || (s->n - mark) % 2) return bad("an end without a beginning");
    json_t *made = json_object();
    int failed = !made;
    for (size_t i = mark; i < s->n && !failed; i += 2) {
        failed = json_object_set(made, json_string_value(s->list[i]), s->list[i + 1]);
    }
    while (s->n >= mark) json_decref(s->list[--s->n]);
    if (!failed) return push_new(r, made);
    json_decref(made);
    return bad("a key that is no text, or no memory");
}

static Status pair(Reader *r)
{
    Values *s = &r->stack;
    if (s->n < 2 || !s->list[s->n - 1] || !s->list[s->n - 2]) return bad("half a pair");
    json_t *list = json_pack("[O, O]", s->list[s->n - 2], s->list[s->n - 1]);
    json_decref(s->list[--s->n]);
    json_decref(s->list[--s->n]);
    return push_new(r, list);
}

/* ---- all of it ---- */

static Status read_value(Reader *r, int op)
{
    switch (op) {
    case '}':
        return push_new(r, json_object());
    case ']':
        return push_new(r, json_array());
    case 'X':
        return read_text(r);
    case 'K':
        return read_int(r, 1, false);
    case 'M':
        return read_int(r, 2, false);
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

static Status read_op(Reader *r, int op)
{
    switch (op) {
    case '(':
        return push(&r->stack, NULL);
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
    default:
        return read_value(r, op);
    }
}

static Status read_all(Reader *r)
{
    if (r->end - r->at < 2 || r->at[0] != PROTO || r->at[1] != 2) return bad("not of protocol 2");
    r->at += 2;
    while (r->at < r->end) {
        const int op = *r->at++;
        if (op != '.') TRY(read_op(r, op));
        if (op != '.') continue;
        return r->stack.n == 1 && r->stack.list[0] && r->at == r->end ? ST_OK
                                                                      : bad("it ends too early");
    }
    return bad("it is cut short");
}

Status tree_reader_parse(json_t **out, const Text *text)
{
    const unsigned char *bytes = (const unsigned char *)text_str(text);
    Reader r = {.at = bytes, .end = bytes + text->n};
    const Status status = read_all(&r);
    *out = status == ST_OK ? json_incref(r.stack.list[0]) : NULL;
    values_free(&r.stack);
    values_free(&r.memo);
    return status;
}
