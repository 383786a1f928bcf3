/* results.json of `suite --like`: the rows, all that its page is made of, and which write-up they stand beside. The
 * suite's own page is made of it as `report` makes one elsewhere. */
#ifndef CLI_LIKE_PAGE_H
#define CLI_LIKE_PAGE_H

#include "cli/like_plan.h"
#include "cli/like_tables.h"
#include "report/page_bundle.h"

/* Whole or not at all; `rows` and `profiles` are those of the plan that were run. Says in the plan whether rows were cut
 * short. */
Status like_page_keep(LikePlan *plan, const RecordSet *rows, const RecordSet *profiles);

/* The tables of one such file. */
typedef struct LikePage {
    int writeup;
    LikeCells cells;
    RecordSet rows, profiles; /* borrowed from the bundle */
    LikeResults results;
} LikePage;

/* The tables of all such files of a page. */
typedef struct LikePages {
    LikePage *list;
    int n;
    PagePart *parts;
    int n_parts;
    Text lines; /* for the summary, \n after each */
} LikePages;

/* A write-up that this version does not know is left out with a warning. `bundle` outlives them; the caller frees
 * them, after a failure too. */
Status like_page_read(LikePages *pages, const PageBundle *bundle);
/* What a page is made of: the files, and the tables beside write-ups. */
PageInput like_page_input(const LikePages *pages, const PageBundle *bundle, const char *command);
void like_page_free(LikePages *pages);

#endif
