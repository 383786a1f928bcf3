/* A profile as tables for people. */
#ifndef REPORT_PROFILE_PROFILE_TABLES_H
#define REPORT_PROFILE_PROFILE_TABLES_H

#include "bench/record/profile_view.h"
#include "bench/record/record_set.h"
#include "report/records/record_table.h"
#include "report/records/row_warnings.h"

typedef struct ProfileTables {
    const char *format; /* of tables: "md", ... */
    int64_t top;        /* rows of each list of kernels and ops */
    bool source;        /* files and lines of ops too */
} ProfileTables;

/* One result: every table. Several: one row each. A second one of another --exec beside the first
 * (--against): their launches, times and gaps side by side. */
Status profile_tables_write(Text *out, const ProfileTables *how, const RecordSet *set);

/* ---- for the other files that make them ---- */
/* Writes and frees the table; one without rows is left out. */
Status profile_tables_put(Text *out, const ProfileTables *how, Table *table);
void profile_tables_columns(Table *table, const char *const *labels, int n, int n_left);
#define PROFILE_COLUMNS(table, n_left, ...)                                                    \
    profile_tables_columns((table), (const char *const[]){__VA_ARGS__},                        \
                           (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)), \
                           (n_left))
void profile_tables_ms(Table *table, double ns);
void profile_tables_percent(Table *table, double part, double whole);
/* "medians", "means" or "minima": what the record's tables show of its steps. */
const char *profile_tables_stat(const Record *record);
/* "FORWARD" */
const char *profile_tables_phase(Phase phase);
/* What the rows have in common, what went wrong, warnings, the machine and the command. */
void profile_tables_notes(Table *table, const RecordSet *set, const RowWarnings *warnings);
/* It has no profile: the cell did not get that far. */
bool profile_tables_failed(const Record *record);

#endif
