/* How a rank ended: one line that the process watching it prints, through the launcher, for the
 * process that started the launcher. RECORD_OK: it is through, and ends MPI. */
#pragma once

#include "bench/measure/child.h"
#include "bench/record/record.h"

/* Of a rank that is late. */
typedef enum RankState {
    RANK_GONE,
    RANK_STOPPED, /* by a signal */
    RANK_BUSY,
    RANK_STARTING, /* waits for the others to begin */
    RANK_WAITING   /* for the others, in a collective */
} RankState;

typedef struct RankReport {
    int rank;
    RecordStatus status;
    RankState state;
    char text[CHILD_MESSAGE_TEXT]; /* why */
} RankReport;

/* Prints it on stderr. */
void rank_report_print(const RankReport *report);
/* False: the line is something else. */
bool rank_report_read(const char *line, RankReport *report);

enum { RANK_REPORT_TEXT = 1024 };
/* All reports of a cell with `ranks` ranks in one line: which rank it was and why. Returns the
 * status of the cell. */
RecordStatus rank_report_judge(const RankReport *reports, int n, int ranks, double timeout,
                               char text[RANK_REPORT_TEXT]);
