/* Tables in Markdown are padded, so that they read as tables on a terminal too. */
#pragma once

#include <stddef.h>

/* Sets the width of the terminal that tables are printed on. A table that is wider hides spare
 * columns until it fits, and a note names them. 0, as at the start: tables go to a file, and no
 * column is hidden. */
void table_md_fit(size_t columns);
size_t table_md_columns(void);
