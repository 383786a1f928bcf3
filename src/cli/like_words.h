/* Headings and labels of a write-up's tables, as people say them. */
#ifndef CLI_LIKE_WORDS_H
#define CLI_LIKE_WORDS_H

#include "cli/like.h"
#include "report/table.h"

/* Is it a change against fp32 (%NAME), a difference to the row before (+NAME), the name of a kernel? */
bool like_words_is_change(const LikeFigure *figure);
bool like_words_is_more(const LikeFigure *figure);
bool like_words_is_name(const LikeFigure *figure);

/* "forward, published (ms)" and "forward, here (ms)" of every figure; of a name only ours, for the published one is the
 * line's own. */
void like_words_columns(Table *table, const LikeFigure *figures, int n);

/* Appends what the row is called: its name, or "--size small --ctx 128" as "size small, ctx 128". */
void like_words_row(Text *out, const LikeRow *row);

#endif
