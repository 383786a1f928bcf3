/* The tables of a profile that list kernels and ops. */
#ifndef REPORT_PROFILE_PROFILE_KERNEL_TABLES_H
#define REPORT_PROFILE_PROFILE_KERNEL_TABLES_H

#include "report/profile/profile_tables.h"

/* Kernels of each phase and of the step, and ops against the machine's limits. */
Status profile_kernel_tables_write(Text *out, const ProfileTables *how, const ProfileView *view);

/* The kernel that takes most time in a phase (PHASE_COUNT: the step); NULL: none. */
const ViewName *profile_kernel_tables_top(const ProfileView *view, int phase);

#endif
