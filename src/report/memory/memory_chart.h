/* Memory over two steps as a chart of characters: what it is used for, stacked, from left to right the
 * nodes of the first step and of those that follow. */
#pragma once

#include "base/text.h"
#include "prof/memory_profile.h"

/* `unicode`: the terminal shows block characters; otherwise plain ASCII. `terminal`: its columns, which the
 * chart keeps to; 0: as wide as it is best. */
Status memory_chart(Text *out, const MemoryProfile *profile, bool unicode, size_t terminal);
