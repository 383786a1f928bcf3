/* A profile as tables for people. */
#pragma once

#include "report/profile/profile_cells.h"

/* One result: every table. Several: one row each. A second one of another --exec beside the first
 * (--against): their launches, times and gaps side by side. */
Status profile_tables_write(Text *out, const ProfileTables *how, const RecordSet *set);

/* `profiles`, of CSV files of `nsys stats`, is nsys_folder_read()'s. */
Status profile_nsys_tables_write(Text *out, const ProfileTables *how, const json_t *profiles);
