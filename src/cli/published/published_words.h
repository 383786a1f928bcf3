/* Headings and labels of a write-up's tables, as people say them. */
#ifndef CLI_PUBLISHED_PUBLISHED_WORDS_H
#define CLI_PUBLISHED_PUBLISHED_WORDS_H

#include "cli/published/published_list.h"
#include "report/format/table.h"

/* Is it a change against fp32 (%NAME), a difference to the row before (+NAME), the name of a kernel? */
bool published_words_is_change(const PublishedFigure *figure);
bool published_words_is_more(const PublishedFigure *figure);
bool published_words_is_name(const PublishedFigure *figure);

/* "forward, published (ms)" and "forward, here (ms)" of every figure; of a name only ours, for the published one is the
 * line's own. */
void published_words_columns(Table *table, const PublishedFigure *figures, int n);

/* Appends what the row is called: its name, or "--size small --ctx 128" as "size small, ctx 128". */
void published_words_row(Text *out, const PublishedRow *row);

#endif
