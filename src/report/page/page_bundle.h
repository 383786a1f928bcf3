/* The files of a page as they were named, where one that a suite wrote (results.json) stands for all those
 * it holds, and a folder for its results.json, or else for its result files. */
#pragma once

#include "report/findings/result_input.h"

typedef struct PageBundle {
    ResultInput *files;
    int n;
    json_t *held; /* what suites wrote and paths in folders: names of files are theirs */
    json_t *gaps; /* the suites' parts that were given up: PageInput has them */
} PageBundle;

/* As result_input_read(). The caller frees it, after a failure too; `paths` outlive it. */
Status page_bundle_read(PageBundle *bundle, const char *const *paths, int n);
void page_bundle_free(PageBundle *bundle);
