/* Memory over two steps as a picture: what it is used for, stacked, with the phases, the peak, what is
 * reserved and what stays between steps. */
#pragma once

#include "base/text.h"
#include "prof/memory_profile.h"

Status memory_svg(Text *out, const MemoryProfile *profile, const char *title);
