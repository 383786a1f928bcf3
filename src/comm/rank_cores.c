#include "comm/rank_cores.h"

#include "backend/cpu_places.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* The first allowed processor of the core that this one is part of. */
static int first_of_core(int cpu, const bool allowed[PROC_TEXT_CPUS], const char *root,
                         bool siblings[PROC_TEXT_CPUS])
{
    char list[PROC_TEXT_LINE];
    proc_text_read(list, sizeof list, root,
                   "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    proc_text_cpu_list(list, siblings);
    int first = 0;
    while (first < cpu && !(siblings[first] && allowed[first])) first++;
    return first;
}

/* Numbers the cores in the order of their first processors: core[cpu]; returns how many there are. */
static int number_cores(const bool allowed[PROC_TEXT_CPUS], const char *root, int *core)
{
    bool *siblings = calloc(PROC_TEXT_CPUS, sizeof *siblings);
    int cores = 0;
    if (!siblings) return 0;
    for (int cpu = 0; cpu < PROC_TEXT_CPUS; cpu++) {
        if (!allowed[cpu]) continue;
        const int first = first_of_core(cpu, allowed, root, siblings);
        core[cpu] = first == cpu ? cores++ : core[first];
    }
    free(siblings);
    return cores;
}

int rank_cores_share(const bool allowed[PROC_TEXT_CPUS], int rank, int ranks, const char *root,
                     bool own[PROC_TEXT_CPUS])
{
    int count = 0, *core = calloc(PROC_TEXT_CPUS, sizeof *core);
    const int64_t cores = core ? number_cores(allowed, root, core) : 0;
    memset(own, 0, PROC_TEXT_CPUS * sizeof *own);
    for (int cpu = 0; cores >= ranks && cpu < PROC_TEXT_CPUS; cpu++) {
        if (!allowed[cpu] || core[cpu] < cores * rank / ranks ||
            core[cpu] >= cores * (rank + 1) / ranks)
            continue;
        own[cpu] = true;
        count++;
    }
    free(core);
    return count;
}

static bool read_allowed(bool allowed[PROC_TEXT_CPUS])
{
    const size_t size = CPU_ALLOC_SIZE(PROC_TEXT_CPUS);
    cpu_set_t *set = CPU_ALLOC(PROC_TEXT_CPUS);
    const bool known = set && sched_getaffinity(0, size, set) == 0;
    for (size_t cpu = 0; known && cpu < PROC_TEXT_CPUS; cpu++)
        allowed[cpu] = CPU_ISSET_S(cpu, size, set) != 0;
    CPU_FREE(set);
    return known;
}

static bool bind_to(const bool own[PROC_TEXT_CPUS])
{
    const size_t size = CPU_ALLOC_SIZE(PROC_TEXT_CPUS);
    cpu_set_t *set = CPU_ALLOC(PROC_TEXT_CPUS);
    if (!set) return false;
    CPU_ZERO_S(size, set);
    for (size_t cpu = 0; cpu < PROC_TEXT_CPUS; cpu++) {
        if (own[cpu]) CPU_SET_S(cpu, size, set);
    }
    const bool done = sched_setaffinity(0, size, set) == 0;
    CPU_FREE(set);
    return done;
}

int rank_cores_bind(int rank, int ranks)
{
    bool *allowed = calloc(2 * PROC_TEXT_CPUS, sizeof *allowed), *own = allowed + PROC_TEXT_CPUS;
    int count = 0;
    if (allowed && read_allowed(allowed)) count = rank_cores_share(allowed, rank, ranks, "", own);
    if (count > 0 && !bind_to(own)) count = 0;
    if (count > 0) cpu_places_own(own);
    free(allowed);
    return count;
}
