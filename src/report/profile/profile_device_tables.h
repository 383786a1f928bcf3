/* The tables of a profile about the device and the operating system: what ran when, what waited. */
#ifndef REPORT_PROFILE_PROFILE_DEVICE_TABLES_H
#define REPORT_PROFILE_PROFILE_DEVICE_TABLES_H

#include "report/profile/profile_cells.h"

Status profile_device_tables_write(Text *out, const ProfileTables *how, const ProfileView *view);

#endif
