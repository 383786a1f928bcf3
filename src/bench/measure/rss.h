/* Memory this process holds, as the kernel counts it. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct Rss {
    size_t now, peak; /* bytes resident */
} Rss;

Status rss_read(Rss *rss);
/* The peak starts anew from what is held now. False where the kernel does not let us. */
bool rss_forget_peak(void);
