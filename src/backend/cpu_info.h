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
    char features[256];  /* what matters to arithmetic, in the kernel's words, blank-separated */
    int64_t l1d, l2, l3; /* bytes of one instance */
    int l3_instances;    /* on the whole machine */
    int64_t memory_total, memory_available;
    int64_t addresses_left; /* that `ulimit -v` lets the process still map; INT64_MAX: all */
    CgroupMemory cgroup;
    char governor[32];
    double mhz;          /* now, of processor 0 */
    char huge_pages[16]; /* transparent ones: "always", "madvise", "never" */
    double load;         /* average over one minute */
} CpuInfo;

/* Counted since the machine started. */
typedef struct CpuTicks {
    int64_t total, idle, steal;
} CpuTicks;

/* `root` is "" for this machine, or a directory that holds another's /proc and /sys. */
Status cpu_info_read(CpuInfo *info, const char *root);
Status cpu_info_ticks(CpuTicks *ticks, const char *root);
bool cpu_info_has(const CpuInfo *info, const char *feature);

/* What could be taken without swapping, being killed or refused: the least of MemAvailable and what the
 * cgroups and the process's own limit leave. */
int64_t cpu_info_cache(const CpuInfo *info);       /* bytes of the last-level caches together */
int64_t cpu_info_memory_left(const CpuInfo *info); /* when `info` was read */
Status cpu_info_memory_available(size_t *bytes);   /* now, on this machine */
