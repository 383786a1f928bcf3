#include "backend/cpu_threads.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* A value that is no positive number is no limit, as in OpenMP. */
int cpu_threads_most(void)
{
    const char *text = getenv("OMP_THREAD_LIMIT");
    char *end = NULL;
    const long limit = text ? strtol(text, &end, 10) : 0;
    while (end && isspace((unsigned char)*end)) end++;
    return !end || *end || limit <= 0 || limit > INT_MAX ? INT_MAX : (int)limit;
}

int cpu_threads_usual(const CpuInfo *info)
{
    const int most = cpu_threads_most(), cores = info->usable_cores > 0 ? info->usable_cores : 1;
    return cores < most ? cores : most;
}

int cpu_threads_processors(void)
{
    static int known;
    int processors = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (processors > 0) return processors;
    CpuInfo info;
    processors =
        cpu_info_read(&info, "") == ST_OK ? info.usable : (int)sysconf(_SC_NPROCESSORS_ONLN);
    __atomic_store_n(&known, processors, __ATOMIC_RELAXED);
    return processors;
}
