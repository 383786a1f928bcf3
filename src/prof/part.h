/* Classifies a node: the part of attention it belongs to and the category of its time. */
#pragma once

#include "plan/plan.h"

typedef enum Part {
#define PART(id, name) PART_##id,
#include "prof/parts.def"
    PART_COUNT /* no part of attention */
} Part;

Part part_of(const Plan *plan, const Node *node);
const char *part_name(Part part); /* NULL of PART_COUNT */

/* The op's category (plan/ops.def); the primitives of an eager softmax count as softmax. */
OpCategory part_category(const Plan *plan, const Node *node);

/* The scope without its layer: "attn/softmax" of "layer.3/attn/softmax". */
const char *part_scope(const Node *node);
