/* suite --like NAME --dry-run: what would be measured, in order, and how long it may take; nothing is run. */
#ifndef CLI_LIKE_DRY_RUN_H
#define CLI_LIKE_DRY_RUN_H

#include "cli/like_plan.h"

Status like_dry_run(const LikePlan *plan);

#endif
