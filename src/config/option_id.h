/* The names of options, of the sets of them that commands are made of, and of a cell's fields,
 * which come first. */
#pragma once

typedef enum OptionId {
#define CELL(id, ...) OPTION_##id,
#include "config/cell_fields.def"
    CELL_FIELD_COUNT,
    OPTION_LAST_FIELD = CELL_FIELD_COUNT - 1, /* the next one is CELL_FIELD_COUNT */
#define OPTION(id, ...) OPTION_##id,
#include "config/options.def"
    OPTION_COUNT,
    /* sets: what option_in() takes for several */
    OPTIONS_DIMS,      /* the dimensions of a model's step */
    OPTIONS_PLAN,      /* and what else decides its plan */
    OPTIONS_STEP,      /* and its numbers */
    OPTIONS_PARALLEL,  /* how many ranks share a step, and how */
    OPTIONS_RANKS,     /* the same, and what starts them */
    OPTIONS_ATTENTION, /* the same of attention alone */
    OPTIONS_CUSTOM,    /* those that change the dimensions of a preset: the size is "custom" then */
    OPTIONS_OUTPUT,
    OPTIONS_ALL,
    OPTION_END /* of a list */
} OptionId;
