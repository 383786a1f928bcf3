#include "cli/live/live.h"

const char *const live_side_names[LIVE_SIDES] = {"OLD", "NEW"};
