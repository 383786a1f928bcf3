#include "report/memory/pickle_writer.h"

#include "base/escape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
    put_op(w, op);
    for (int i = 0; i < n; i++) put_op(w, (int)(value >> (8 * i) & 0xff));
}

/* ---- references ---- */

static const uint32_t NO_MEMO = UINT32_MAX;

static uint32_t memoize(PickleWriter *w)
{
    const uint32_t memo = w->memos++;
    put_low(w, memo < 256 ? 'q' : 'r', memo, memo < 256 ? 1 : 4); /* BINPUT, LONG_BINPUT */
    return memo;
}

static void refer(PickleWriter *w, uint32_t memo)
{
    put_low(w, memo < 256 ? 'h' : 'j', memo, memo < 256 ? 1 : 4); /* BINGET, LONG_BINGET */
}

static size_t slot_of(const PickleWriter *w, const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    size_t slot = (size_t)(hash ^ hash >> 32) % w->texts_capacity;
    while (w->texts[slot].text && strcmp(w->texts[slot].text, text) != 0) {
        slot = (slot + 1) % w->texts_capacity;
    }
    return slot;
}

static bool grow_texts(PickleWriter *w)
{
    if (2 * (w->n_texts + 1) <= w->texts_capacity) return true;
    PickleText *old = w->texts;
    const size_t n = w->texts_capacity;
    w->texts_capacity = n ? 2 * n : 256;
    w->texts = calloc(w->texts_capacity, sizeof *w->texts);
    if (!w->texts) {
        w->texts = old;
        w->texts_capacity = n;
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (old[i].text) w->texts[slot_of(w, old[i].text)] = old[i];
    }
    free(old);
    return true;
}

/* Where a text's memo is kept; a new text has none yet. NULL: no memory. Valid until the next
 * one is asked for. */
static PickleText *entry_of(PickleWriter *w, const char *text)
{
    if (w->status != ST_OK) return NULL;
    PickleText *entry = grow_texts(w) ? &w->texts[slot_of(w, text)] : NULL;
    if (entry && entry->text) return entry;
    char *copy = entry ? strdup(text) : NULL;
    if (!copy) {
        w->status = NO_MEMORY("for the texts of a file");
        return NULL;
    }
    *entry = (PickleText){copy, NO_MEMO};
    w->n_texts++;
    return entry;
}

static void pickle_text(PickleWriter *w, const char *text)
{
    PickleText *entry = entry_of(w, text);
    if (!entry) return;
    if (entry->memo != NO_MEMO) {
        refer(w, entry->memo);
        return;
    }
    const size_t n = strlen(text);
    put_low(w, 'X', n, 4); /* BINUNICODE */
    put(w, text, n);
    entry->memo = memoize(w);
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
    const PickleText *entry = w->pickle ? entry_of(w, name) : NULL;
    if (!entry || entry->memo == NO_MEMO) return false;
    value_begins(w);
    refer(w, entry->memo);
    return true;
}

void pickle_writer_share(PickleWriter *w, const char *name)
{
    PickleText *entry = w->pickle ? entry_of(w, name) : NULL;
    if (entry) entry->memo = memoize(w);
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
        char key[32];
        const int n = (int)strcspn(at, "=");
        snprintf(key, sizeof key, "%.*s", n, at);
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
    *w = (PickleWriter){.pickle = pickle};
    TRY(atomic_file_open(&w->file, path));
    if (pickle) put(w, "\x80\x02", 2); /* PROTO 2 */
    return ST_OK;
}

Status pickle_writer_finish(PickleWriter *w)
{
    put_op(w, w->pickle ? '.' : '\n'); /* STOP */
    flush(w);
    for (size_t i = 0; i < w->texts_capacity; i++) free(w->texts[i].text);
    free(w->texts);
    text_free(&w->pending);
    if (w->status == ST_OK) return atomic_file_finish(&w->file);
    atomic_file_abandon(&w->file);
    return w->status;
}
