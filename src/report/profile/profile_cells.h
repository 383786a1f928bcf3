/* What the tables of profiles have in common: how they are written, and cells of one kind. */
#pragma once

#include "bench/record/profile_view.h"
#include "bench/record/record_set.h"
#include "report/records/record_table.h"
#include "report/records/row_warnings.h"

typedef struct ProfileTables {
    const char *format; /* of tables: "md", ... */
    int64_t top;        /* rows of each list of kernels and ops */
    bool source;        /* files and lines of ops too */
} ProfileTables;

/* Writes and frees the table; one without rows is left out. */
Status profile_cells_put(Text *out, const ProfileTables *how, Table *table);

void profile_cells_ms(Table *table, double ns);
void profile_cells_us(Table *table, double ns);
void profile_cells_percent(Table *table, double part, double whole);
/* avg, med, min, max and std in us */
void profile_cells_spread(Table *table, const ViewStats *time);
/* How many, median, p99, total and the longest of gaps between `what`, as in "kernels", of one step
 * (`steps`) or of all. */
void profile_cells_gaps(Table *table, const ViewGaps *gaps, const char *what, double steps);

/* "FORWARD" */
const char *profile_cells_phase(Phase phase);
/* "medians", "means" or "minima": what the record's tables show of its steps. */
const char *profile_cells_stat(const Record *record);
/* What the rows have in common, what went wrong, warnings, the machine and the command. */
void profile_cells_notes(Table *table, const RecordSet *set, const RowWarnings *warnings);
/* It has no profile: the cell did not get that far. */
bool profile_cells_failed(const Record *record);
