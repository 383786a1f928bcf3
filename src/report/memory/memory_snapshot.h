/* Memory over some steps as a snapshot that PyTorch's memory viewer
 * (https://docs.pytorch.org/memory_viz) opens: one device, a segment for each region and for the
 * arena, an event for every birth and death. */
#pragma once

#include "prof/memory_profile.h"

typedef struct MemorySnapshot {
    const MemoryProfile *profile;
    int steps; /* one after the other */
    /* When a node of a step began, in microseconds; NULL: from the plan alone, 100 for each node. */
    double (*start_us)(const void *self, int step, int node);
    const void *self;
    int64_t epoch_us; /* when the first step began; 0 where nothing ran */
} MemorySnapshot;

/* As JSON where the name ends in .json, otherwise as a pickle. */
Status memory_snapshot_write(const MemorySnapshot *snapshot, const char *path);
