#pragma once

#include "ops/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many groups of parameters an adamw node updates. */
int adamw_groups(const Node *node);
/* Its parameters are in two halves, the lower ones and the copy. */
bool adamw_split(const Plan *plan, const Node *node, int group);

#ifdef __cplusplus
}
#endif
