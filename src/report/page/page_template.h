/* The page without its data: page/ and uPlot put together by the build (cmake/page.cmake), or nothing
 * where uPlot was not there (page_template_none.c). */
#pragma once

/* Holds PAGE_TEMPLATE_DATA once, where the data goes; NULL: this build has no HTML report. */
extern const char *const page_template;

#define PAGE_TEMPLATE_DATA "{{data}}"
