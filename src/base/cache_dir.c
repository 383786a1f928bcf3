#include "base/cache_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

Status cache_dir_path(Text *path, bool make)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool xdg = cache && *cache == '/'; /* the standard says to ignore relative ones */
    if (!xdg && !(home && *home)) return FAIL(ST_IO, "neither XDG_CACHE_HOME nor HOME is set");
    text_printf(path, "%s%s", xdg ? cache : home, xdg ? "" : "/.cache");
    if (make) mkdir(text_str(path), 0700);
    text_puts(path, "/roofstep");
    TRY(text_status(path));
    if (make && mkdir(text_str(path), 0755) != 0 && errno != EEXIST) {
        return FAIL(ST_IO, "cannot make the folder %s: %s", text_str(path), strerror(errno));
    }
    return ST_OK;
}
