/* Texts by key that outlive the process: a JSON object in a file of the cache folder
 * (base/cache_dir.h). Processes may add entries at the same time; none is lost. A file that is not
 * JSON is ignored with a warning. */
#pragma once

#include "base/status.h"

#include <stdbool.h>

typedef struct DiskCache DiskCache;

/* `file` becomes FILE.json, without blanks and slashes. `what` names the content in warnings:
 * "algorithms". Without a place on disk, or when `file` is NULL, the cache lives in memory only.
 * NULL: out of memory. */
DiskCache *disk_cache_open(const char *file, const char *what);
/* NULL: not found. Valid until the next disk_cache_put(). */
const char *disk_cache_get(const DiskCache *table, const char *key);
/* Written to disk at once, so that a killed run keeps what it has measured. When another process
 * has stored this key in the meantime, its text stays, unless `replace`. */
Status disk_cache_put(DiskCache *table, const char *key, const char *text, bool replace);
void disk_cache_free(DiskCache *table);
