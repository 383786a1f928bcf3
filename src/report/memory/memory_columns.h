/* Memory over two steps, cut into the columns of a chart, and how each class of memory is drawn. */
#pragma once

#include "prof/memory_profile.h"

typedef struct MemoryColumns {
    const MemoryProfile *profile;
    MemoryMoment *list; /* array_free() frees it */
    int n;
    int peak; /* the column of the highest moment */
} MemoryColumns;

/* The category is PyTorch's, the colour is of a picture, the glyphs are of a terminal. */
typedef struct MemoryStyle {
    const char *category, *colour, *glyph, *plain;
} MemoryStyle;

extern const MemoryStyle memory_columns_style[MEMORY_COUNT];

Status memory_columns_make(MemoryColumns *columns, const MemoryProfile *profile, int n);
const Node *memory_columns_node(const MemoryColumns *columns, int column);
bool memory_columns_uses(const MemoryColumns *columns, int usage); /* anywhere */
/* "peak 1.9 GiB: backward, lm_head (matmul)" */
void memory_columns_peak(const MemoryColumns *columns, char *out, size_t size);
