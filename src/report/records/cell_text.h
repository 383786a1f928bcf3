/* One cell of a table for people: a column and a record -> text. */
#pragma once

#include "base/text.h"
#include "report/records/column.h"

/* Appends "12.34 ± 0.05", "OOM", "-" where there is nothing. `baseline` is the row to compare
 * with, NULL for none. */
void cell_text_put(Text *out, const Column *column, const Record *record, const Record *baseline);

/* The same; where the record has no such value, why: "unsupported". `record` may be NULL. */
void cell_text_put_or_status(Text *out, const Column *column, const Record *record);
/* "-22.5 ± 0.3": change of a phase's time against the baseline in %. Both may be NULL. */
void cell_text_put_change(Text *out, const Column *column, const Record *record,
                          const Record *baseline);

/* One time divided by another, with the error that follows from both spreads. */
typedef struct Ratio {
    double value;
    double error; /* of the kind that its spreads are; NAN when one is unknown */
} Ratio;

/* r = a / b, error r sqrt((sa/a)^2 + (sb/b)^2): first order, spreads independent. */
Ratio cell_text_ratio(double a, double spread_a, double b, double spread_b);

/* "OOM" for oom, the word itself for the others. */
const char *cell_text_status(RecordStatus status);
