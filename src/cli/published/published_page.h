/* results.json of `suite --like`: the rows, all that its page is made of, and which write-up they stand beside. The
 * suite's own page is made of it as `report` makes one elsewhere. */
#ifndef CLI_PUBLISHED_PUBLISHED_PAGE_H
#define CLI_PUBLISHED_PUBLISHED_PAGE_H

#include "cli/published/published_plan.h"
#include "cli/published/published_tables.h"
#include "report/page/page_bundle.h"

/* Whole or not at all; `rows` and `profiles` are those of the plan that were run. Says in the plan whether rows were cut
 * short. */
Status published_page_keep(PublishedPlan *plan, const RecordSet *rows, const RecordSet *profiles);

/* The tables of one such file. */
typedef struct PublishedPage {
    int writeup;
    PublishedCells cells;
    RecordSet rows, profiles; /* borrowed from the bundle */
    PublishedResults results;
} PublishedPage;

/* The tables of all such files of a page. */
typedef struct PublishedPages {
    PublishedPage *list;
    int n;
    PagePart *parts;
    int n_parts;
    Text lines; /* for the summary, \n after each */
} PublishedPages;

/* A write-up that this version does not know is left out with a warning. `bundle` outlives them; the caller frees
 * them, after a failure too. */
Status published_page_read(PublishedPages *pages, const PageBundle *bundle);
/* What a page is made of: the files, and the tables beside write-ups. */
PageInput published_page_input(const PublishedPages *pages, const PageBundle *bundle,
                               const char *command);
void published_page_free(PublishedPages *pages);

#endif
