#include "bench/measure/rss.h"

#include "base/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    CLEANUP(text_free) Text text = {0};
    TRY(text_read_file(&text, "/proc/self/status", 1 << 16));
    TRY(find_kib(text_str(&text), "VmRSS:", &rss->now));
    return find_kib(text_str(&text), "VmHWM:", &rss->peak);
}

bool rss_forget_peak(void)
{
    const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    const bool done = fd >= 0 && write(fd, "5", 1) == 1; /* 5: the peak alone, see proc(5) */
    if (fd >= 0) close(fd);
    return done;
}
