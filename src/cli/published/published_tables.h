/* The tables of a write-up: its published figures and ours. */
#pragma once

#include "cli/published/published_notes.h"
#include "report/page/page_parts.h"

/* Lists every chosen table of the write-up as a part of a page; returns how many. A row that was not run
 * says why, and estimates are marked. `parts` has room for published_list_n_tables, and `results`
 * outlives them. */
int published_tables_list(const PublishedResults *results, int writeup, PagePart *parts);
