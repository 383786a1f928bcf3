#include "report/memory/pickle_writer.h"

#include "base/escape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The viewer appends a batch in one JavaScript call, whose number of arguments is limited.
 * Python's own pickler uses the same batch. */
enum { BATCH = 1000, FLUSH = 1 << 20 };

/* ---- bytes ---- */

static void flush(PickleWriter *w)
{
    if (w->status == ST_OK) w->status = text_status(&w->pending);
    if (w->status == ST_OK)
        w->status = atomic_file_write(&w->file, text_str(&w->pending), w->pending.n);
    text_clear(&w->pending);
}

static void put(PickleWriter *w, const void *bytes, size_t n)
{
    text_append(&w->pending, bytes, n);
    if (w->pending.n >= FLUSH) flush(w);
}

static void put_op(PickleWriter *w, int op)
{
    const unsigned char byte = (unsigned char)op;
    put(w, &byte, 1);
}

/* An opcode and the `n` lowest bytes of its argument, little-endian. */
static void put_low(PickleWriter *w, int op, uint64_t value, int n)
{
    unsigned char bytes[9] = {(unsigned char)op};
    for (int i = 0; i < n; i++) bytes[1 + i] = (unsigned char)(value >> (8 * i));
    put(w, bytes, (size_t)n + 1);
}

/* ---- references ---- */

/* `known` is of the memo. */
static void refer(PickleWriter *w, const json_t *known)
{
    const uint64_t number = (uint64_t)json_integer_value(known);
    put_low(w, number < 256 ? 'h' : 'j', number, number < 256 ? 1 : 4); /* BINGET, LONG_BINGET */
}

/* Numbers what was written last, so that it can be referred to. */
static void memoize(PickleWriter *w, const char *name)
{
    const size_t number = json_object_size(w->memo);
    put_low(w, number < 256 ? 'q' : 'r', number, number < 256 ? 1 : 4); /* BINPUT, LONG_BINPUT */
    if (json_object_set_new_nocheck(w->memo, name, json_integer((json_int_t)number)) != 0)
        w->status = NO_MEMORY("for the texts of a file");
}

static void pickle_text(PickleWriter *w, const char *text)
{
    const json_t *known = json_object_get(w->memo, text);
    if (known) {
        refer(w, known);
        return;
    }
    const size_t n = strlen(text);
    put_low(w, 'X', n, 4); /* BINUNICODE */
    put(w, text, n);
    memoize(w, text);
}

/* ---- values ---- */

static void put_text(PickleWriter *w, const char *text)
{
    if (w->pickle) {
        pickle_text(w, text);
        return;
    }
    CLEANUP(text_free) Text escaped = {0};
    text_puts(&escaped, "\"");
    escape_put(&escaped, ESCAPE_JSON, text);
    text_puts(&escaped, "\"");
    put(w, text_str(&escaped), escaped.n);
    w->pending.failed = w->pending.failed || escaped.failed;
}

/* Before a value of a list or a key of a dictionary. */
static void next_item(PickleWriter *w)
{
    int *items = &w->items[w->depth];
    if (w->pickle && w->open[w->depth] == '[' && *items > 0 && *items % BATCH == 0) {
        put(w, "e(", 2); /* APPENDS, MARK */
    }
    if (!w->pickle && *items > 0) put_op(w, ',');
    ++*items;
}

static void value_begins(PickleWriter *w)
{
    if (w->depth > 0 && w->open[w->depth] == '[') next_item(w);
}

bool pickle_writer_known(PickleWriter *w, const char *name)
{
    const json_t *known = json_object_get(w->memo, name);
    if (!known) return false;
    value_begins(w);
    refer(w, known);
    return true;
}

void pickle_writer_share(PickleWriter *w, const char *name)
{
    if (w->pickle) memoize(w, name);
}

void pickle_writer_key(PickleWriter *w, const char *key)
{
    next_item(w);
    put_text(w, key);
    if (!w->pickle) put_op(w, ':');
}

void pickle_writer_text(PickleWriter *w, const char *text)
{
    value_begins(w);
    put_text(w, text);
}

/* Bytes of a signed number. */
static int bytes_of(int64_t value)
{
    int n = 1;
    while (n < 8 && (value >> (8 * n - 1) != 0 && value >> (8 * n - 1) != -1)) n++;
    return n;
}

static void pickle_int(PickleWriter *w, int64_t value)
{
    const int n = bytes_of(value);
    if (value >= 0 && value < 256) {
        put_low(w, 'K', (uint64_t)value, 1); /* BININT1 */
    } else if (value >= 0 && value < 65536) {
        put_low(w, 'M', (uint64_t)value, 2); /* BININT2 */
    } else if (n <= 4) {
        put_low(w, 'J', (uint64_t)value, 4); /* BININT */
    } else {
        put_op(w, 0x8a); /* LONG1 */
        put_low(w, n, (uint64_t)value, n);
    }
}

static void put_int(PickleWriter *w, int64_t value)
{
    char digits[24];
    if (w->pickle) {
        pickle_int(w, value);
    } else {
        put(w, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, value));
    }
}

void pickle_writer_int(PickleWriter *w, int64_t value)
{
    value_begins(w);
    put_int(w, value);
}

void pickle_writer_bool(PickleWriter *w, bool value)
{
    value_begins(w);
    if (w->pickle) {
        put_op(w, value ? 0x88 : 0x89); /* NEWTRUE, NEWFALSE */
    } else {
        put(w, value ? "true" : "false", value ? 4 : 5);
    }
}

void pickle_writer_pair(PickleWriter *w, int64_t a, int64_t b)
{
    value_begins(w);
    if (!w->pickle) put_op(w, '[');
    put_int(w, a);
    if (!w->pickle) put_op(w, ',');
    put_int(w, b);
    put_op(w, w->pickle ? 0x86 : ']'); /* TUPLE2 */
}

void pickle_writer_fields(PickleWriter *w, const char *fields, ...)
{
    va_list values;
    va_start(values, fields);
    for (const char *at = fields; *at;) {
        char key[32] = "";
        const size_t n = strcspn(at, "=");
        memcpy(key, at, n < sizeof key ? n : sizeof key - 1);
        pickle_writer_key(w, key);
        if (at[n + 1] == 's')
            pickle_writer_text(w, va_arg(values, const char *));
        else
            pickle_writer_int(w, at[n + 1] == 'i' ? va_arg(values, int64_t) : 0);
        at += n + 2;
        at += *at == ' ';
    }
    va_end(values);
}

void pickle_writer_begin_in(PickleWriter *w, const char *key, char open)
{
    pickle_writer_key(w, key);
    pickle_writer_begin(w, open);
}

void pickle_writer_begin(PickleWriter *w, char open)
{
    value_begins(w);
    if (w->depth + 1 == PICKLE_WRITER_DEPTH) {
        w->status = FAIL(ST_FAILED, "a file is nested too deeply");
        return;
    }
    w->open[++w->depth] = open;
    w->items[w->depth] = 0;
    /* A list starts as EMPTY_LIST and grows by batches; DICT makes a dictionary at its end. */
    if (w->pickle && open == '[') put_op(w, ']');
    put_op(w, w->pickle ? '(' : open); /* MARK */
}

void pickle_writer_end(PickleWriter *w)
{
    const char open = w->open[w->depth];
    w->depth -= w->depth > 0;
    if (w->pickle)
        put_op(w, open == '{' ? 'd' : 'e'); /* DICT, APPENDS */
    else
        put_op(w, open == '{' ? '}' : ']');
}

/* ---- the file ---- */

Status pickle_writer_open(PickleWriter *w, const char *path, bool pickle)
{
    *w = (PickleWriter){.pickle = pickle, .memo = json_object()};
    const Status status =
        w->memo ? atomic_file_open(&w->file, path) : NO_MEMORY("for the texts of a file");
    if (status != ST_OK) json_decref(w->memo);
    if (status == ST_OK && pickle) put(w, "\x80\x02", 2); /* PROTO 2 */
    return status;
}

Status pickle_writer_finish(PickleWriter *w)
{
    put_op(w, w->pickle ? '.' : '\n'); /* STOP */
    flush(w);
    json_decref(w->memo);
    text_free(&w->pending);
    if (w->status == ST_OK) return atomic_file_finish(&w->file);
    atomic_file_abandon(&w->file);
    return w->status;
}
