/* What ranks share of a profile: the collectives of rank 0, and a few figures of every rank. */
#pragma once

#include "comm/comm.h"
#include "prof/profiler.h"

#include <jansson.h>

/* Puts `collectives`, `ranks` and how they talk into the profile. All ranks call it. */
Status profile_ranks_put(json_t *profile, const Profiler *p, Comm *comm);
