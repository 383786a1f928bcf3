/* Shared by the tables of profiles: options and cells. */
#pragma once

#include "bench/record/profile_view.h"
#include "bench/record/record_set.h"
#include "report/format/table_write.h"
#include "report/records/row_warnings.h"

typedef struct ProfileTables {
    const char *format; /* of tables: "md", ... */
    int64_t top;        /* rows of each list of kernels and ops */
    bool source;        /* files and lines of ops too */
} ProfileTables;

/* Time of the ops of a category in a phase (PHASE_COUNT: the step), ns of all steps. */
double profile_cells_category(const ProfileView *view, int phase, OpCategory category);
double profile_cells_attributed(const ProfileView *view); /* of all ops of the step */

/* avg, med, min, max and std in us */
void profile_cells_spread(Table *table, const ViewStats *time);
/* Count, median, p99, total and longest of the gaps between `what` ("kernels"). `steps` > 0: count
 * and total of one step; 0: of the whole run. */
void profile_cells_gaps(Table *table, const ViewGaps *gaps, const char *what, double steps);

/* "FORWARD" */
const char *profile_cells_phase(Phase phase);
/* "medians", "means" or "minima": what the record's tables show of its steps. */
const char *profile_cells_stat(const Record *record);
/* Notes: what the rows have in common, failures, warnings, the machine and the command. */
void profile_cells_notes(Table *table, const RecordSet *set, const RowWarnings *warnings);
/* The record has no profile: its cell failed before. */
bool profile_cells_failed(const Record *record);

/* ---- one part of the tables each; of profile_tables_write() ---- */
/* The GPU, scopes, the operating system and threads: what ran when, what waited. */
Status profile_device_tables_write(Text *out, const ProfileTables *how, const ProfileView *view);
/* Of each row in fp8 that has one of the same work in bf16: where that pays, by linear layer. */
Status profile_fp8_table_write(Text *out, const ProfileTables *how, const RecordSet *set);
/* Several profiles: a row per cell, and two styles of execution side by side. */
Status profile_sweep_tables_write(Text *out, const ProfileTables *how, const RecordSet *set);
