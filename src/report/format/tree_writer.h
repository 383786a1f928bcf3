/* Nested lists and dictionaries streamed to a file as JSON or as a Python pickle.
 *
 * The pickle is of protocol 2, with the opcodes that PyTorch's memory viewer reads and no others. Texts are
 * written once and referred to afterwards, as are values that the caller marks as shared. The first
 * failure sticks: writers read straight down, and tree_writer_finish() tells. */
#pragma once

#include "base/atomic_file.h"
#include "base/text.h"

#include <stdint.h>

enum { TREE_WRITER_DEPTH = 16 };

typedef struct TreeText {
    char *text; /* owned; NULL: a free slot */
    uint32_t memo;
} TreeText;

typedef struct TreeWriter {
    AtomicFile file;
    bool pickle;
    Status status;
    Text pending;                 /* not yet in the file */
    char open[TREE_WRITER_DEPTH]; /* '{' or '[' of each level */
    int items[TREE_WRITER_DEPTH];
    int depth;
    /* of a pickle: what has been written and may be referred to */
    uint32_t memos;
    TreeText *texts; /* a hash table */
    size_t n_texts, texts_capacity;
    uint32_t *shared; /* memo + 1 of each shared value; 0: not yet */
    int n_shared;
} TreeWriter;

/* `n_shared` values may be shared, numbered from 0. tree_writer_finish() or
 * tree_writer_abandon() is due once it succeeded. */
Status tree_writer_open(TreeWriter *w, const char *path, bool pickle, int n_shared);
Status tree_writer_finish(TreeWriter *w);
void tree_writer_abandon(TreeWriter *w);

void tree_writer_begin(TreeWriter *w, char open); /* '{' or '[' */
void tree_writer_end(TreeWriter *w);
void tree_writer_key(TreeWriter *w, const char *key); /* before each value of a dictionary */
void tree_writer_int(TreeWriter *w, int64_t value);
void tree_writer_bool(TreeWriter *w, bool value);
void tree_writer_text(TreeWriter *w, const char *text);
void tree_writer_begin_in(TreeWriter *w, const char *key,
                          char open); /* a key and a value that begins */
/* Keys with their values, as in "name=s line=i stream=0": a const char *, an int64_t, and 0 itself. */
void tree_writer_fields(TreeWriter *w, const char *fields, ...);
void tree_writer_pair(TreeWriter *w, int64_t a, int64_t b); /* a tuple; a list in JSON */
/* True when it wrote a reference to shared value `id`; otherwise the caller writes a dictionary or list
 * next, and tells when it has ended. */
bool tree_writer_known(TreeWriter *w, int id);
void tree_writer_share(TreeWriter *w, int id);
/* The same of values that go by a name, which must not be a text of the file. */
bool tree_writer_known_as(TreeWriter *w, const char *name);
void tree_writer_share_as(TreeWriter *w, const char *name);
