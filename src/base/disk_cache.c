#include "base/disk_cache.h"

#include "base/array.h"
#include "base/cache_dir.h"
#include "base/json_text.h"
#include "base/log.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { FILE_LIMIT = 16 << 20 };

struct DiskCache {
    json_t *texts;
    const char *what;
    char path[PATH_MAX]; /* "": there is no place for it */
    bool unread, unkept; /* and that was said */
};

static void place(DiskCache *table, const char *file)
{
    CLEANUP(text_free) Text path = {0};
    if (cache_dir_path(&path, true) != ST_OK) return;
    const size_t folder = path.n;
    text_printf(&path, "/%s.json", file);
    for (size_t i = folder + 1; i < path.n; i++) {
        if (path.data[i] == ' ' || path.data[i] == '/') path.data[i] = '-';
    }
    if (!path.failed && path.n < sizeof table->path)
        memcpy(table->path, text_str(&path), path.n + 1);
}

static json_t *read_object(const DiskCache *table)
{
    CLEANUP(text_free) Text text = {0};
    json_error_t error;
    const bool read = text_read_file(&text, table->path, FILE_LIMIT) == ST_OK;
    return read ? json_loads(text_str(&text), 0, &error) : NULL;
}

/* The file's entries win: it holds all that this process has stored, except what others have replaced. Not
 * read once it could not be written, because then entries of this process are missing from it. */
static void read_file(DiskCache *table)
{
    if (!table->path[0] || table->unkept || access(table->path, F_OK) != 0) return;
    CLEANUP(json_text_free) json_t *read = read_object(table);
    if (json_is_object(read)) {
        json_object_update(table->texts, read);
    } else if (!table->unread) {
        log_warning("%s is not a file of %s and is ignored; they are measured again", table->path,
                    table->what);
        table->unread = true;
    }
}

static void write_file(DiskCache *table)
{
    CLEANUP(array_free) char *text = json_text_dumps(table->texts, JSON_INDENT(1) | JSON_SORT_KEYS);
    if (text && text_write_file(table->path, text, strlen(text)) != ST_OK && !table->unkept) {
        log_warning("the %s found are not kept: %s", table->what, status_message());
        table->unkept = true;
    }
}

/* Held until the file descriptor is closed; -1 where there is no place for a lock. */
static int lock_file(const DiskCache *table)
{
    char path[sizeof table->path + 8];
    snprintf(path, sizeof path, "%s.lock", table->path);
    const int lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (lock >= 0) (void)flock(lock, LOCK_EX);
    return lock;
}

DiskCache *disk_cache_open(const char *file, const char *what)
{
    DiskCache *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->what = what;
    table->texts = json_object();
    if (!table->texts) {
        free(table);
        return NULL;
    }
    if (file) place(table, file);
    read_file(table);
    return table;
}

const char *disk_cache_get(const DiskCache *table, const char *key)
{
    return json_string_value(json_object_get(table->texts, key));
}

static Status put(DiskCache *table, const char *key, const char *text)
{
    if (json_object_set_new(table->texts, key, json_string(text)) == 0) return ST_OK;
    return NO_MEMORY("for a table of %s", table->what);
}

Status disk_cache_put(DiskCache *table, const char *key, const char *text, bool replace)
{
    if (!table->path[0]) return put(table, key, text);
    const int lock = lock_file(table);
    read_file(table);
    Status status = ST_OK;
    if (replace || !disk_cache_get(table, key)) {
        status = put(table, key, text);
        if (status == ST_OK) write_file(table);
    }
    if (lock >= 0) close(lock);
    return status;
}

void disk_cache_free(DiskCache *table)
{
    if (!table) return;
    json_decref(table->texts);
    free(table);
}
