/* Texts by key that outlive the process: a JSON object in a file of the cache folder (base/cache_dir.h). Processes
 * that add to one at the same time do not undo each other's entries; a file that is none is ignored with a warning. */
#pragma once

#include "base/status.h"

#include <stdbool.h>

typedef struct DiskCache DiskCache;

/* `file` becomes FILE.json, without blanks and slashes. `what` it holds is for warnings: "algorithms". Where there is
 * no place on disk, or `file` is NULL, it lives in memory alone. NULL: no memory. */
DiskCache *disk_cache_open(const char *file, const char *what);
/* NULL: there is none. Valid until the next disk_cache_put(). */
const char *disk_cache_get(const DiskCache *table, const char *key);
/* On disk at once, so that a run that is killed has not measured in vain. Where another process has kept one
 * interference, that one counts, but to `replace` it. */
Status disk_cache_put(DiskCache *table, const char *key, const char *text, bool replace);
void disk_cache_free(DiskCache *table);
