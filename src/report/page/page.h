/* Result files as one HTML page that needs nothing else: no network, no server, no other file. */
#pragma once

#include "report/page/page_parts.h"

/* Whether this build can: the charts come from npm when it is built. */
bool page_is_built(void);
/* ST_UNSUPPORTED, and how to get it, where this build cannot. */
Status page_check_built(void);

Status page_write(Text *out, const PageInput *input);
