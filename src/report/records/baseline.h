/* --baseline VALUE: the row that each row is compared with. */
#pragma once

#include "report/format/table.h"
#include "report/records/column.h"

typedef struct Baseline {
    const Column *column; /* that --baseline names a value of */
    char value[COLUMN_TEXT];
    const Column *others[TABLE_MAX_COLUMNS]; /* that vary too: a row must be alike in them */
    int n_others;
} Baseline;

/* `text` is a value that one varying column has ("fp32", "small"), or "ctx=128" where several have
 * it. ST_USAGE says which values there are. */
Status baseline_find(Baseline *baseline, const RecordSet *set, const char *text);

/* Whether baseline_find() will succeed once these cells have run: to be asked before. */
Status baseline_check(const Config *configs, int n, const char *text);

/* Whether two rows agree in every option but the baseline's column. */
bool baseline_alike(const Baseline *baseline, const Record *a, const Record *b);
/* The row like `record` that has this value, or the baseline's own, in the baseline's column; NULL when
 * there is none. */
const Record *baseline_row_with(const Baseline *baseline, const RecordSet *set,
                                const Record *record, const char *value);
const Record *baseline_row(const Baseline *baseline, const RecordSet *set, const Record *record);
