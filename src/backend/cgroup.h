/* What the control groups above this process allow it: memory and processor time.
 *
 * Version 1 and 2 hierarchies are both read, from the process's own group up to the top that can be
 * seen: the tightest limit on the way is the one that counts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct CgroupMemory {
    bool limited;
    int64_t limit; /* bytes */
    int64_t used;  /* in that group; inactive page cache, which the kernel gives back, left out */
} CgroupMemory;

/* The group on the way up with the least memory left. */
CgroupMemory cgroup_memory(const char *root);

/* Processors' worth of time per second, 0 when there is no limit. */
double cgroup_cpu_quota(const char *root);
