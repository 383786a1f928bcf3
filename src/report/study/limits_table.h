/* The measured limits of a device as a table for people. */
#ifndef REPORT_STUDY_LIMITS_TABLE_H
#define REPORT_STUDY_LIMITS_TABLE_H

#include "bench/limits/limits.h"
#include "report/format/table.h"

/* A row for every limit that the device has, the data sheet of a GPU beside it. */
void limits_table_fill(Table *table, const Limits *limits);

#endif
