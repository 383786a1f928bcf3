/* The table of a GPU's copies and memsets. */
#ifndef REPORT_PROFILE_PROFILE_MEMORY_TABLES_H
#define REPORT_PROFILE_PROFILE_MEMORY_TABLES_H

#include "report/profile/profile_tables.h"

/* Time and size of each memory operation; nothing where there is none. */
Status profile_memory_tables_write(Text *out, const ProfileTables *how, const ProfileView *view);

#endif
