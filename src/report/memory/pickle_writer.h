/* Nested lists and dictionaries streamed to a file as JSON or as a Python pickle.
 *
 * The pickle is of protocol 2, with the opcodes that PyTorch's memory viewer reads and no others. Texts are
 * written once and referred to afterwards, as are values that the caller marks as shared. The first
 * failure sticks: writers read straight down, and pickle_writer_finish() tells. */
#pragma once

#include "base/atomic_file.h"
#include "base/text.h"

#include <jansson.h>
#include <stdint.h>

enum { PICKLE_WRITER_DEPTH = 16 };

typedef struct PickleWriter {
    AtomicFile file;
    bool pickle;
    Status status;
    Text pending;                   /* not yet in the file */
    char open[PICKLE_WRITER_DEPTH]; /* '{' or '[' of each level */
    int items[PICKLE_WRITER_DEPTH];
    int depth;
    json_t *memo; /* of a pickle: the number of each text and shared value that was written */
} PickleWriter;

/* pickle_writer_finish() is due once it succeeded; it closes the file and frees. */
Status pickle_writer_open(PickleWriter *w, const char *path, bool pickle);
Status pickle_writer_finish(PickleWriter *w);

void pickle_writer_begin(PickleWriter *w, char open); /* '{' or '[' */
void pickle_writer_end(PickleWriter *w);
void pickle_writer_key(PickleWriter *w, const char *key); /* before each value of a dictionary */
void pickle_writer_int(PickleWriter *w, int64_t value);
void pickle_writer_bool(PickleWriter *w, bool value);
void pickle_writer_text(PickleWriter *w, const char *text);
void pickle_writer_begin_in(PickleWriter *w, const char *key,
                            char open); /* a key and a value that begins */
/* Keys with their values, as in "name=s line=i stream=0": a const char *, an int64_t, and 0
 * itself. */
void pickle_writer_fields(PickleWriter *w, const char *fields, ...);
void pickle_writer_pair(PickleWriter *w, int64_t a, int64_t b); /* a tuple; a list in JSON */
/* True when it wrote a reference to the value of that name; otherwise the caller writes a
 * dictionary or list next, and shares it when it has ended. A name must not be a text of the file. */
bool pickle_writer_known(PickleWriter *w, const char *name);
void pickle_writer_share(PickleWriter *w, const char *name);
