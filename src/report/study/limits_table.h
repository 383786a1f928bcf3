/* The measured limits of a device as a table for people. */
#pragma once

#include "bench/limits/limits.h"
#include "report/format/table.h"

/* A row for every limit that the device has, with the data sheet value of a GPU. */
void limits_table_fill(Table *table, const Limits *limits);
/* The conclusion: above how many FLOP a byte the rate of matmuls bounds and not memory, by precision. */
void limits_table_balance(Text *out, const Limits *limits);
