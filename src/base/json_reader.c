#include "base/json_reader.h"

#include "base/human.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

/* Of each thread: a tree is read and let go of by one. */
static _Thread_local struct {
    bool counting;
    size_t used;             /* by the trees there are, since the first one was read */
    size_t taken;            /* beside them, by what is being read */
    bool no_room, no_memory; /* refused since json_reader_begin() */
} state;

static size_t room; /* 0: not asked for yet */

void json_reader_set_room(size_t bytes)
{
    room = bytes < JSON_READER_MOST ? bytes : JSON_READER_MOST;
    if (room == 0) room = 1;
}

size_t json_reader_room(void)
{
    if (room == 0) {
        const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
        json_reader_set_room(pages > 0 && page > 0 ? (size_t)pages / 4 * (size_t)page
                                                   : JSON_READER_MOST);
    }
    return room;
}

static bool fits(size_t bytes)
{
    const size_t most = json_reader_room(), used = state.used + state.taken;
    const bool has_room = used <= most && bytes <= most - used;
    if (!has_room) state.no_room = true;
    return has_room;
}

/* What the allocator keeps for itself beside each piece. */
static size_t size_of(void *piece)
{
    return malloc_usable_size(piece) + sizeof(size_t);
}

static void *counted_malloc(size_t n)
{
    /* Once one piece was refused, all are: jansson 2.14 does not notice that its buffer for a
     * string did not grow, and would copy the string until a quote somewhere behind it. */
    if (state.counting && (state.no_room || state.no_memory || !fits(n))) return NULL;
    void *piece = malloc(n);
    if (piece) state.used += size_of(piece);
    if (!piece) {
        status_note_no_memory();
        state.no_memory = true;
    }
    return piece;
}

/* A piece from before the counting began was never counted. */
static void counted_free(void *piece)
{
    if (!piece) return;
    const size_t n = size_of(piece);
    state.used -= n < state.used ? n : state.used;
    free(piece);
}

void json_reader_begin(void)
{
    json_set_alloc_funcs(counted_malloc, counted_free);
    state.counting = true;
    state.taken = 0;
    state.no_room = state.no_memory = false;
}

bool json_reader_take(size_t bytes)
{
    if (!fits(bytes)) return false;
    state.taken += bytes;
    return true;
}

Status json_reader_end(const char *path, size_t n)
{
    state.counting = false;
    state.taken = 0;
    if (state.no_room)
        return FAIL(ST_USAGE,
                    "not enough memory to read %s (%zu bytes unpacked): what it holds takes more "
                    "than %s, the most that files may take here",
                    path, n, human_bytes((double)json_reader_room()).s);
    if (state.no_memory)
        return NO_MEMORY("to read %s (%zu bytes unpacked): give this process more", path, n);
    return ST_OK;
}

Status json_reader_parse(json_t **out, const char *path, const char *text, size_t n, size_t flags,
                         json_error_t *error)
{
    json_error_t ignored;
    json_reader_begin();
    *out = json_loadb(text, n, flags, error ? error : &ignored);
    const Status status = json_reader_end(path, n);
    if (status == ST_OK || !*out) return status;
    json_decref(*out); /* it got by without what was refused; the rest of the program would not */
    *out = NULL;
    return status;
}
