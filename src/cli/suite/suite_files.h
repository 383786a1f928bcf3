/* What a suite has written beside its page, for the page's links. */
#pragma once

#include "base/status.h"

#include <jansson.h>

/* A new array of names such as "profile/profile_trace.json.gz", sorted, each relative to the folder. */
Status suite_files_list(json_t **out, const char *folder);
