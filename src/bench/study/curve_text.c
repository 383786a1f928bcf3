#include "bench/study/curve_text.h"

#include "base/array.h"
#include "base/gzip_file.h"
#include "base/json_text.h"
#include "base/rng.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const size_t most_bytes = (size_t)1 << 30;
static const char usual[] = "/usr/share/common-licenses";
static const uint64_t order_stream = (1ULL << 41); /* of the first round; others follow */

/* ---- reading ---- */

static int is_plain(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Text may begin as gzip'd files do. */
static Status read_file(Text *out, const char *path)
{
    const size_t room = most_bytes - out->n;
    struct stat info;
    if (stat(path, &info) == 0 && (size_t)info.st_size > room)
        return FAIL(ST_IO, "%s: more than 1 GiB of text", path);
    return gzip_file_named(path) ? gzip_file_read(out, path, room)
                                 : text_read_file(out, path, room);
}

/* Links and folders in it are passed over: the same text would come twice. */
static Status read_entry(Text *out, const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat info;
    const int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (n < 0 || (size_t)n >= sizeof path || lstat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return ST_OK;
    return read_file(out, path);
}

static Status read_folder(Text *out, const char *path)
{
    struct dirent **entries = NULL;
    const int n = scandir(path, &entries, is_plain, alphasort);
    Status status = n < 0 ? FAIL(ST_IO, "cannot read the folder %s", path) : ST_OK;
    for (int i = 0; i < n; i++) {
        if (status == ST_OK) status = read_entry(out, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* FNV-1a. */
static void put_hash(CurveText *text)
{
    uint64_t hash = 14695981039346656037ULL;
    for (size_t i = 0; i < text->bytes.n; i++)
        hash = (hash ^ (unsigned char)text_str(&text->bytes)[i]) * 1099511628211ULL;
    snprintf(text->hash, sizeof text->hash, "%016llx", (unsigned long long)hash);
}

/* Its name alone; of what was not named, where it is. */
static void put_source(CurveText *text, const char *path, bool name_only)
{
    size_t n = strlen(path), first = 0;
    while (n > 1 && path[n - 1] == '/') n--;
    for (size_t i = 0; i < n && name_only; i++) first = path[i] == '/' && i + 1 < n ? i + 1 : first;
    snprintf(text->source, sizeof text->source, "%.*s", (int)(n - first), path + first);
}

Status curve_text_read(CurveText *text, const char *path)
{
    struct stat info;
    const char *from = path ? path : usual;
    *text = (CurveText){0};
    if (stat(from, &info) != 0)
        return FAIL(ST_USAGE, "%s%s: there is no such file or folder%s", path ? "--data " : "",
                    from, path ? "" : ", and --data names no other text to train on");
    if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode))
        return FAIL(ST_USAGE, "--data %s: this is no file or folder", from);
    const Status status =
        S_ISDIR(info.st_mode) ? read_folder(&text->bytes, from) : read_file(&text->bytes, from);
    if (status != ST_OK) return status == ST_IO ? ST_USAGE : status; /* nothing was done yet */
    TRY(text_status(&text->bytes));
    put_source(text, from, path != NULL);
    put_hash(text);
    return ST_OK;
}

void curve_text_free(CurveText *text)
{
    text_free(&text->bytes);
    free(text->order);
    *text = (CurveText){0};
}

json_t *curve_text_json(const CurveText *text)
{
    return json_pack("{s:o, s:I, s:s, s:I}", "source", json_text_string(text->source), "bytes",
                     (json_int_t)text->bytes.n, "hash", text->hash, "windows", (json_int_t)text->n);
}

/* ---- windows ---- */

/* The last token of a window needs one after it. */
int64_t curve_text_windows(const CurveText *text, int64_t width)
{
    return text->bytes.n == 0 ? 0 : ((int64_t)text->bytes.n - 1) / width;
}

/* Fisher and Yates. */
static void shuffle(CurveText *text, int64_t round)
{
    for (int64_t i = 0; i < text->n; i++) text->order[i] = i;
    for (int64_t i = text->n - 1; i > 0; i--) {
        const int64_t j = rng_below(text->seed, order_stream + (uint64_t)round, (uint64_t)i, i + 1);
        const int64_t other = text->order[j];
        text->order[j] = text->order[i];
        text->order[i] = other;
    }
    text->round = round;
}

static Status make_order(CurveText *text, int64_t width, uint64_t seed)
{
    const int64_t n = curve_text_windows(text, width);
    if (text->order && text->width == width && text->seed == seed) return ST_OK;
    if (n < 1)
        return FAIL(ST_USAGE, "the text (%s, %zu bytes) is shorter than one window of %lld tokens",
                    text->source, text->bytes.n, (long long)width);
    free(text->order);
    text->order = malloc((size_t)n * sizeof *text->order);
    if (!text->order) return NO_MEMORY("for %lld windows of text", (long long)n);
    text->n = n;
    text->width = width;
    text->seed = seed;
    shuffle(text, 0);
    return ST_OK;
}

static void copy_window(const CurveText *text, int64_t window, int32_t *tokens, int32_t *targets)
{
    const char *bytes = text_str(&text->bytes) + window * text->width;
    for (int64_t i = 0; i < text->width; i++) {
        tokens[i] = (unsigned char)bytes[i];
        targets[i] = (unsigned char)bytes[i + 1];
    }
}

Status curve_text_batch(CurveText *text, int64_t width, uint64_t seed, int64_t first, int64_t rows,
                        int32_t *tokens, int32_t *targets)
{
    TRY(make_order(text, width, seed));
    for (int64_t r = 0; r < rows; r++) {
        const int64_t round = (first + r) / text->n;
        if (round != text->round) shuffle(text, round);
        copy_window(text, text->order[(first + r) % text->n], tokens + r * width,
                    targets + r * width);
    }
    return ST_OK;
}
