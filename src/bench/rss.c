#include "bench/rss.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static Status find_kib(const char *text, const char *name, size_t *bytes)
{
    const char *at = strstr(text, name);
    char *end = NULL;
    const unsigned long long kib = at ? strtoull(at + strlen(name), &end, 10) : 0;
    if (!at || end == at + strlen(name)) {
        return FAIL(ST_IO, "/proc/self/status has no %s", name);
    }
    *bytes = (size_t)kib * 1024;
    return ST_OK;
}

Status rss_read(Rss *rss)
{
    Text text = {0};
    Status status = text_read_file(&text, "/proc/self/status", 1 << 16);
    if (status == ST_OK) status = find_kib(text_str(&text), "VmRSS:", &rss->now);
    if (status == ST_OK) status = find_kib(text_str(&text), "VmHWM:", &rss->peak);
    text_free(&text);
    return status;
}
