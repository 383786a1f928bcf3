/* A build without the packages that draw charts has no HTML report. */
#include "report/page/page_template.h"

#include <stddef.h>

const char *const page_template = NULL;
