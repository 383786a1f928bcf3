#pragma once

#include "base/text.h"

/* Appends the folder for what may be measured again at any time: $XDG_CACHE_HOME/roofstep or
 * ~/.cache/roofstep. `make` creates it. */
Status cache_dir_path(Text *path, bool make);
