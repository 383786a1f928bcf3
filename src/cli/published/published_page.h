/* results.json of `suite --like`: the rows, every file that the page reads, and the name of the write-up.
 * The suite makes its page from this file, as `report` does elsewhere. */
#pragma once

#include "cli/published/published_plan.h"
#include "cli/published/published_tables.h"
#include "report/page/page_bundle.h"

/* Atomic; `records` are what was run of the plan. Sets plan->whole. */
Status published_page_keep(PublishedPlan *plan, const PublishedRecords *records);

/* The tables of all such files of a page. */
typedef struct PublishedPages {
    PublishedResults *list; /* they share the records of the bundle */
    int n;
    PagePart *parts;
    int n_parts;
    Text lines; /* for the summary, \n after each */
} PublishedPages;

/* Skips an unknown write-up with a warning. `bundle` outlives the pages; the caller frees them, after a
 * failure too. */
Status published_page_read(PublishedPages *pages, const PageBundle *bundle);
/* The input of a page: the files and the published tables. */
PageInput published_page_input(const PublishedPages *pages, const PageBundle *bundle,
                               const char *command);
void published_page_free(PublishedPages *pages);
