/* What ranks send each other in a profiled step: how long, beside what, who waited. */
#pragma once

#include "report/profile/profile_cells.h"

/* Every collective, every rank; nothing of a step that is not shared. */
Status profile_comm_tables_write(Text *out, const ProfileTables *how, const ProfileView *view);
/* A row for each profile whose step is shared. */
Status profile_comm_tables_many(Text *out, const ProfileTables *how, const RecordSet *set);
