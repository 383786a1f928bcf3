/* Whether a profile is whole and consistent. */
#pragma once

#include "bench/record/profile_view.h"

/* Nothing is missing, children add up to their parents, to 0.1 % of the parent, and each stats's
 * figures can be those of the same times. ST_FAILED says where not. */
Status profile_check(const ProfileView *view);
