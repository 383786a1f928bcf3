/* In which dtype every part of a training step is kept, read from its plan. */
#pragma once

#include "model/model.h"

typedef enum Component {
#define COMPONENT(id, name, dtypes) COMPONENT_##id,
#include "bench/record/component_dtypes.def"
    COMPONENT_COUNT
} Component;

extern const char *const component_dtypes_names[COMPONENT_COUNT];

typedef struct ComponentText {
    char s[48];
} ComponentText;

/* "f32"; "f32, not in memory" where the value lives inside one node; "-" where the plan has no such thing;
 * "f32 and bf16" where layers differ. */
ComponentText component_dtypes_of(const Model *model, Component component);

/* What a parameter is, as the forward pass reads it; what a node of the forward or backward pass writes.
 * COMPONENT_COUNT: of no component. */
Component component_dtypes_of_param(const Model *model, const Param *param);
Component component_dtypes_of_node(const Model *model, const Node *node);
