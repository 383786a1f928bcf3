/* Several profiles in one table: a row per cell, and two styles of execution side by side. */
#pragma once

#include "report/profile/profile_cells.h"

Status profile_sweep_tables_write(Text *out, const ProfileTables *how, const RecordSet *set);
