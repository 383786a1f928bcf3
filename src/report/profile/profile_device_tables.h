/* The tables of a profile about the device and the operating system: what ran when, what waited. */
#pragma once

#include "report/profile/profile_cells.h"

Status profile_device_tables_write(Text *out, const ProfileTables *how, const ProfileView *view);
