/* The measured limits of a device as a table for people. */
#pragma once

#include "bench/limits/limits.h"
#include "report/format/table.h"

/* A row for every limit that the device has, with the data sheet value of a GPU. */
void limits_table_fill(Table *table, const Limits *limits);
