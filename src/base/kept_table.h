/* Texts by key that outlive the process: a JSON object in a file of the cache folder (base/cache_dir.h). Processes
 * that add to one at the same time do not undo each other's entries; a file that is none is ignored with a warning. */
#ifndef BASE_KEPT_TABLE_H
#define BASE_KEPT_TABLE_H

#include "base/status.h"

#include <stdbool.h>

typedef struct KeptTable KeptTable;

/* `file` becomes FILE.json, without blanks and slashes. `what` it holds is for warnings: "algorithms". Where there is
 * no place on disk, or `file` is NULL, it lives in memory alone. NULL: no memory. */
KeptTable *kept_table_open(const char *file, const char *what);
/* NULL: there is none. Valid until the next kept_table_put(). */
const char *kept_table_get(const KeptTable *table, const char *key);
/* On disk at once, so that a run that is killed has not measured in vain. Where another process has kept one
 * meanwhile, that one counts, but to `replace` it. */
Status kept_table_put(KeptTable *table, const char *key, const char *text, bool replace);
void kept_table_free(KeptTable *table);

#endif
