#ifndef OPS_ADAMW_H
#define OPS_ADAMW_H

#include "ops/op.h"

/* How many groups of parameters an adamw node updates. */
int adamw_groups(const Node *node);

#endif
