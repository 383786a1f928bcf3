/* What CSV files of `nsys stats` hold, in the tables of a profile. */
#ifndef REPORT_PROFILE_PROFILE_NSYS_TABLES_H
#define REPORT_PROFILE_PROFILE_NSYS_TABLES_H

#include "report/profile/profile_tables.h"

/* `profiles` is nsys_folder_read()'s. */
Status profile_nsys_tables_write(Text *out, const ProfileTables *how, const json_t *profiles);

#endif
