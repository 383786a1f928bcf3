/* Real text for training: its bytes are the tokens, cut into windows that come in a random order, each once
 * before any comes again. The same seed gives every model and precision the same batches. */
#pragma once

#include "base/text.h"

#include <jansson.h>
#include <stdint.h>

/* Tokens are bytes: the least vocabulary of a model. */
enum { CURVE_TEXT_VOCAB = 256 };

typedef struct CurveText {
    Text bytes;
    char source[256]; /* where it is from, for people */
    char hash[17];    /* of the bytes */
    /* of curve_text_batch(): the windows of this width in the order of this seed and round */
    int64_t *order;
    int64_t n, width, round;
    uint64_t seed;
} CurveText;

/* A file, packed by gzip or not, or the files of a folder in the order of their names; NULL: licences that
 * this system has. ST_USAGE: there is none, or it is larger than 1 GiB. */
Status curve_text_read(CurveText *text, const char *path);
void curve_text_free(CurveText *text);

/* {source, bytes, hash, windows}, after the first batch. NULL: no memory. */
json_t *curve_text_json(const CurveText *text);

/* How many windows of `width` tokens it has. */
int64_t curve_text_windows(const CurveText *text, int64_t width);
/* `rows` windows from number `first` on, and the token that follows each of theirs. ST_USAGE: the text is
 * shorter than one window. */
Status curve_text_batch(CurveText *text, int64_t width, uint64_t seed, int64_t first, int64_t rows,
                        int32_t *tokens, int32_t *targets);
