/* What to change first, from the results of a suite: the choice that saves most of a step. */
#ifndef CLI_SUITE_ADVICE_H
#define CLI_SUITE_ADVICE_H

#include "report/page_file.h"

/* Appends its lines to the array; none where nothing can be said. */
Status suite_advice_add(json_t *lines, const PageFile *files, int n);

#endif
