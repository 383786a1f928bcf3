/* A cell in a few words: its size and whatever else tells it from the other cells of the sweep. */
#pragma once

#include "config/sweep.h"

typedef struct CellLabel {
    char s[160];
} CellLabel;

/* `varies` is Sweep.varies; NULL: nothing does. "small ctx 256 bf16". */
CellLabel cell_label(const Config *config, const bool *varies);
/* The same of one of n cells, its seed only where another cell is the same but for that. */
CellLabel cell_label_among(const Config *config, const Config *all, int n, const bool *varies);
