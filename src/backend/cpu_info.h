/* What this machine is, and how much of it this process may use. */
#pragma once

#include "backend/cgroup.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* An unknown number is 0 and an unknown text is "". */
typedef struct CpuInfo {
    char name[128]; /* "Neoverse-V1"; kinds of cores joined by " + " */
    char arch[32];  /* as uname says: "aarch64", "x86_64" */
    int online;     /* processors (hardware threads) of the machine */
    int physical;   /* cores of the machine */
    int sockets, nodes;
    int usable;       /* processors for this process: affinity and cgroup quota; at least 1 */
    int usable_cores; /* the same counted in cores: how many threads do arithmetic at full speed */
    double quota;     /* processors' worth of time the cgroup allows, 0: no limit */
    char features[256];  /* instruction sets for arithmetic, as in /proc/cpuinfo, blank-separated */
    int64_t l1d, l2, l3; /* bytes of one cache */
    int l3_instances;    /* L3 caches of the machine */
    int64_t memory_total, memory_available;
    int64_t addresses_left; /* bytes the process may still map (`ulimit -v`); INT64_MAX: no limit */
    CgroupMemory cgroup;
    char governor[32];
    double mhz;          /* current clock of processor 0 */
    char huge_pages[16]; /* transparent huge pages: "always", "madvise", "never" */
    double load;         /* load average over one minute */
} CpuInfo;

/* CPU time of all processors since the machine started, in clock ticks. */
typedef struct CpuTicks {
    int64_t total, idle, steal;
} CpuTicks;

/* `root` is "" for this machine, or a folder with the /proc and /sys of another (tests). */
Status cpu_info_read(CpuInfo *info, const char *root);
Status cpu_info_ticks(CpuTicks *ticks, const char *root);
bool cpu_info_has(const CpuInfo *info, const char *feature);

int64_t cpu_info_cache(const CpuInfo *info); /* bytes of all last-level caches */

/* Memory that the process can take without swapping and without being killed or refused: the least of
 * MemAvailable, the cgroups' limits and the process's own limit. */
int64_t cpu_info_memory_left(const CpuInfo *info); /* when `info` was read */
Status cpu_info_memory_available(size_t *bytes);   /* now, on this machine */
