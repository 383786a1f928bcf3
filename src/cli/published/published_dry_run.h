/* suite --like NAME --dry-run: what would be measured, in order, and how long it may take; nothing is run. */
#ifndef CLI_PUBLISHED_PUBLISHED_DRY_RUN_H
#define CLI_PUBLISHED_PUBLISHED_DRY_RUN_H

#include "cli/published/published_plan.h"

Status published_dry_run(const PublishedPlan *plan);

#endif
