/* A comparison as people type it: the values of one column beside each other, and the change in %.
 *
 *     | d_head | ctx | forward, fp32 (ms) | forward, tf32 (ms) | change (%) | backward, fp32 (ms) | ... */
#ifndef REPORT_RECORDS_SIDE_BY_SIDE_H
#define REPORT_RECORDS_SIDE_BY_SIDE_H

#include "report/records/baseline.h"

/* A row for every set of rows that differ in the baseline's column alone; its own value comes first. The
 * caller frees `table`, after a failure too. */
Status side_by_side_build(Table *table, const RecordSet *set, const Baseline *baseline);

#endif
