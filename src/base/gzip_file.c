#include "base/gzip_file.h"

#include "base/error_text.h"
#include "base/json_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { WORTH_WRITING = 1 << 16, GZIP = 16 + MAX_WBITS };

bool gzip_file_named(const char *path)
{
    return text_ends_with(path, ".gz") && strlen(path) > 3;
}

Status gzip_file_open(GzipFile *packed, const char *path)
{
    *packed = (GzipFile){.zipped = gzip_file_named(path)};
    TRY(atomic_file_open(&packed->file, path));
    if (!packed->zipped || deflateInit2(&packed->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8,
                                        Z_DEFAULT_STRATEGY) == Z_OK)
        return ST_OK;
    packed->zipped = false;
    atomic_file_abandon(&packed->file);
    return NO_MEMORY("to compress %s", path);
}

static Status deflate_all(GzipFile *packed, int flush)
{
    unsigned char out[WORTH_WRITING];
    packed->zip.next_in = (unsigned char *)packed->text.data;
    packed->zip.avail_in = (unsigned)packed->text.n;
    do {
        packed->zip.next_out = out;
        packed->zip.avail_out = sizeof out;
        if (deflate(&packed->zip, flush) == Z_STREAM_ERROR)
            return FAIL(ST_FAILED, "cannot compress %s", packed->file.path);
        TRY(atomic_file_write(&packed->file, out, sizeof out - packed->zip.avail_out));
    } while (packed->zip.avail_out == 0);
    return ST_OK;
}

static Status write_out(GzipFile *packed, int flush)
{
    TRY(text_status(&packed->text));
    TRY(packed->zipped ? deflate_all(packed, flush)
                       : atomic_file_write(&packed->file, text_str(&packed->text), packed->text.n));
    text_clear(&packed->text);
    return ST_OK;
}

Status gzip_file_flush(GzipFile *packed)
{
    return packed->text.n < WORTH_WRITING ? ST_OK : write_out(packed, Z_NO_FLUSH);
}

Status gzip_file_finish(GzipFile *packed)
{
    Status status = write_out(packed, Z_FINISH);
    if (status == ST_OK) status = atomic_file_finish(&packed->file);
    gzip_file_abandon(packed);
    return status;
}

void gzip_file_abandon(GzipFile *packed)
{
    if (packed->zipped) deflateEnd(&packed->zip);
    packed->zipped = false;
    atomic_file_abandon(&packed->file);
    text_free(&packed->text);
}

/* What is no text because another program packed it, or because the first bytes of a .gz file are damaged. */
static Status check_beginning(const char *bytes, size_t n, const char *path)
{
    static const struct {
        const char *bytes, *program;
    } packers[] = {
        {"\3757zXZ", "xz"},
        {"\x28\xb5\x2f\xfd", "zstd"},
        {"BZh", "bzip2"},
        {"PK\x03\x04", "zip"},
    };
    for (size_t i = 0; i < sizeof packers / sizeof *packers; i++) {
        const size_t length = strlen(packers[i].bytes);
        if (n < length || memcmp(bytes, packers[i].bytes, length) != 0) continue;
        return FAIL(ST_IO, "cannot read %s: it is packed by %s, and only gzip is read: unpack it",
                    path, packers[i].program);
    }
    const bool damaged = n > 0 && (bytes[0] == '\x1f' || (n > 1 && bytes[1] == '\x8b'));
    if (!damaged) return ST_OK;
    return FAIL(ST_IO,
                "cannot read %s: the gzip'd file is damaged at its beginning; use a whole copy",
                path);
}

/* zlib puts the path before it. */
static const char *without_path(const char *why, const char *path)
{
    const size_t n = strlen(path);
    return strncmp(why, path, n) == 0 && strncmp(why + n, ": ", 2) == 0 ? why + n + 2 : why;
}

static Status inflate_all(Text *text, gzFile file, const char *path, size_t limit)
{
    const size_t before = text->n;
    char piece[WORTH_WRITING];
    int n = 0, code = Z_OK;
    while ((n = gzread(file, piece, sizeof piece)) > 0) {
        text_append(text, piece, (size_t)n);
        if (text->failed)
            return NO_MEMORY("to read %s (more than %zu bytes unpacked)", path, text->n - before);
        if (text->n - before > limit) return FAIL(ST_IO, "%s has more than %zu bytes", path, limit);
    }
    const char *why = gzerror(file, &code);
    /* a file that ends too early reads like one that ends */
    if (n < 0 || (code != Z_OK && code != Z_STREAM_END))
        return FAIL(ST_IO, "cannot read %s: %s; use a whole copy", path, without_path(why, path));
    TRY(text_status(text));
    return gzdirect(file) ? check_beginning(text_str(text) + before, text->n - before, path)
                          : ST_OK;
}

Status gzip_file_read(Text *text, const char *path, size_t limit)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return FAIL(ST_IO, "cannot read %s: it is a folder; name the files in it", path);
    errno = 0;
    gzFile file = gzopen(path, "rbe");
    if (!file) return FAIL(ST_IO, "cannot read %s: %s", path, error_text(errno ? errno : ENOMEM));
    const size_t room = json_reader_room(); /* for trees, which take more than their text */
    const Status status = inflate_all(text, file, path, limit < room ? limit : room);
    const int closed = gzclose_r(file);
    if (status == ST_OK && closed != Z_OK)
        return FAIL(ST_IO, "cannot read %s: it is cut short", path);
    return status;
}
