/* The tables of a profile about the device and the operating system: what ran when, what waited. */
#ifndef REPORT_PROFILE_PROFILE_DEVICE_TABLES_H
#define REPORT_PROFILE_PROFILE_DEVICE_TABLES_H

#include "report/profile/profile_tables.h"

Status profile_device_tables_write(Text *out, const ProfileTables *how, const ProfileView *view);

/* Host-bound or device-bound, in a sentence; "" on a CPU. */
void profile_device_tables_verdict(Text *text, const ProfileView *view);

#endif
