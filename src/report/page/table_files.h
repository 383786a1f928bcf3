/* Every table of a page as files that papers and notes take in. */
#pragma once

#include "report/page/page_parts.h"

/* For each part NAME.md, NAME.tex and NAME.typ, and beside them tables.md, tables.tex and tables.typ with
 * all of them, which compile as they are. The folder is made where it is missing. */
Status table_files_write(const char *folder, const PageInput *input);
