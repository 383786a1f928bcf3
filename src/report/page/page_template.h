/* The page without its data: page/ and the packages that draw its charts, put together by the build
 * (cmake/Page.cmake), or nothing where those were not there (page_template_none.c). */
#pragma once

/* Holds PAGE_TEMPLATE_DATA once, where the data goes; NULL: this build has no HTML report. */
extern const char *const page_template;

#define PAGE_TEMPLATE_DATA "{{data}}"
