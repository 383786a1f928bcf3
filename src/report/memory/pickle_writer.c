#include "report/memory/pickle_writer.h"

#include "base/escape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the viewer appends at once must fit into the arguments of one call of its language;
 * Python itself takes this many. */
enum { BATCH = 1000, FLUSH = 1 << 20 };

/* ---- bytes ---- */

static void put(PickleWriter *w, const void *bytes, size_t n)
{
    text_append(&w->pending, bytes, n);
    if (w->pending.n < FLUSH || w->status != ST_OK) return;
    w->status = text_status(&w->pending);
    if (w->status == ST_OK)
        w->status = atomic_file_write(&w->file, text_str(&w->pending), w->pending.n);
    text_clear(&w->pending);
}

static void put_op(PickleWriter *w, int op)
{
    const unsigned char byte = (unsigned char)op;
    put(w, &byte, 1);
}

/* The `n` lowest bytes, the lowest first. */
static void put_low(PickleWriter *w, uint64_t value, int n)
{
    for (int i = 0; i < n; i++) put_op(w, (int)(value >> (8 * i) & 0xff));
}

/* ---- references ---- */

static const uint32_t NO_MEMO = UINT32_MAX;

static uint32_t memoize(PickleWriter *w)
{
    const uint32_t memo = w->memos++;
    put_op(w, memo < 256 ? 'q' : 'r'); /* BINPUT, LONG_BINPUT */
    put_low(w, memo, memo < 256 ? 1 : 4);
    return memo;
}

static void refer(PickleWriter *w, uint32_t memo)
{
    put_op(w, memo < 256 ? 'h' : 'j'); /* BINGET, LONG_BINGET */
    put_low(w, memo, memo < 256 ? 1 : 4);
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
    put_op(w, 'X'); /* BINUNICODE */
    put_low(w, n, 4);
    put(w, text, n);
    entry->memo = memoize(w);
}

/* ---- values ---- */

static void json_text(PickleWriter *w, const char *text)
{
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

bool pickle_writer_known(PickleWriter *w, int id)
{
    if (!w->pickle || !w->shared[id]) return false;
    value_begins(w);
    refer(w, w->shared[id] - 1);
    return true;
}

void pickle_writer_share(PickleWriter *w, int id)
{
    if (w->pickle && !w->shared[id]) w->shared[id] = memoize(w) + 1;
}

bool pickle_writer_known_as(PickleWriter *w, const char *name)
{
    const PickleText *entry = w->pickle ? entry_of(w, name) : NULL;
    if (!entry || entry->memo == NO_MEMO) return false;
    value_begins(w);
    refer(w, entry->memo);
    return true;
}

void pickle_writer_share_as(PickleWriter *w, const char *name)
{
    PickleText *entry = w->pickle ? entry_of(w, name) : NULL;
    if (entry) entry->memo = memoize(w);
}

void pickle_writer_key(PickleWriter *w, const char *key)
{
    next_item(w);
    if (w->pickle) {
        pickle_text(w, key);
    } else {
        json_text(w, key);
        put_op(w, ':');
    }
}

void pickle_writer_text(PickleWriter *w, const char *text)
{
    value_begins(w);
    if (w->pickle) {
        pickle_text(w, text);
    } else {
        json_text(w, text);
    }
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
    if (value >= 0 && value < 256) {
        put_op(w, 'K'); /* BININT1 */
        put_low(w, (uint64_t)value, 1);
    } else if (value >= 0 && value < 65536) {
        put_op(w, 'M'); /* BININT2 */
        put_low(w, (uint64_t)value, 2);
    } else if (value == (int32_t)value) {
        put_op(w, 'J'); /* BININT */
        put_low(w, (uint64_t)value, 4);
    } else {
        const int n = bytes_of(value);
        put_op(w, 0x8a); /* LONG1 */
        put_op(w, n);
        put_low(w, (uint64_t)value, n);
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
    if (w->pickle) {
        if (open == '[')
            put_op(w,
                   ']'); /* EMPTY_LIST, which grows by batches; a dictionary is made at its end */
        put_op(w, '(');  /* MARK */
    } else {
        put_op(w, open);
    }
}

void pickle_writer_end(PickleWriter *w)
{
    const char open = w->open[w->depth];
    w->depth -= w->depth > 0;
    if (w->pickle) {
        put_op(w, open == '{' ? 'd' : 'e'); /* DICT, APPENDS */
    } else {
        put_op(w, open == '{' ? '}' : ']');
    }
}

/* ---- the file ---- */

Status pickle_writer_open(PickleWriter *w, const char *path, bool pickle, int n_shared)
{
    *w = (PickleWriter){.pickle = pickle, .n_shared = n_shared};
    w->shared = calloc((size_t)n_shared + 1, sizeof *w->shared);
    if (!w->shared) return NO_MEMORY("to write %s", path);
    const Status status = atomic_file_open(&w->file, path);
    if (status != ST_OK) {
        free(w->shared);
        return status;
    }
    if (pickle) put(w, "\x80\x02", 2); /* PROTO 2 */
    return ST_OK;
}

static void release(PickleWriter *w)
{
    for (size_t i = 0; i < w->texts_capacity; i++) free(w->texts[i].text);
    free(w->texts);
    free(w->shared);
    text_free(&w->pending);
}

Status pickle_writer_finish(PickleWriter *w)
{
    put_op(w, w->pickle ? '.' : '\n'); /* STOP */
    if (w->status == ST_OK) w->status = text_status(&w->pending);
    if (w->status == ST_OK)
        w->status = atomic_file_write(&w->file, text_str(&w->pending), w->pending.n);
    const Status status = w->status;
    if (status != ST_OK) {
        pickle_writer_abandon(w);
        return status;
    }
    release(w);
    return atomic_file_finish(&w->file);
}

void pickle_writer_abandon(PickleWriter *w)
{
    release(w);
    atomic_file_abandon(&w->file);
}
