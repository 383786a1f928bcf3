/* Cells whose step several ranks share: how the commands start them. */
#pragma once

#include "cli/command.h"

bool rank_cells_any(const Sweep *sweep);
/* ST_UNSUPPORTED: an option that only one rank has. */
Status rank_cells_check(const Settings *settings);
/* Warns where the ranks of one machine are more than its processors: their times are those of waiting. */
void rank_cells_warn_shared(const Settings *settings, const Sweep *sweep);
/* From here to rank_cells_finish() cells of this command can be run. */
Status rank_cells_prepare(const Command *command, const Settings *settings);
void rank_cells_finish(void);
/* The cell as its ranks run it: with the threads of each. A cell of one rank is left as it is. */
Config rank_cells_settle(const Settings *settings, const Config *config);
/* In the process of the cell. `words`, ended by NULL, are options of its ranks beside those that make the
 * cell; NULL: none. */
Status rank_cells_run(const Config *config, CellLink *link, const char *const *words);
