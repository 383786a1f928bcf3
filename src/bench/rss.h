/* Memory this process holds, as the kernel counts it. */
#ifndef BENCH_RSS_H
#define BENCH_RSS_H

#include "base/status.h"

#include <stddef.h>

typedef struct Rss {
    size_t now, peak; /* bytes resident */
} Rss;

Status rss_read(Rss *rss);

#endif
