#include "backend/cpu_places.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static int add_place(int place, bool in[PROC_TEXT_CPUS])
{
    const int n = omp_get_place_num_procs(place);
    int count = 0, *ids = calloc((size_t)(n > 0 ? n : 1), sizeof *ids);
    if (!ids) return 0;
    omp_get_place_proc_ids(place, ids);
    for (int i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= PROC_TEXT_CPUS || in[ids[i]]) continue;
        in[ids[i]] = true;
        count++;
    }
    free(ids);
    return count;
}

int cpu_places(bool in[PROC_TEXT_CPUS])
{
    int count = 0;
    memset(in, 0, PROC_TEXT_CPUS * sizeof *in);
    for (int i = 0; i < omp_get_num_places(); i++) count += add_place(i, in);
    return count;
}

void cpu_places_unbind(void)
{
    static _Thread_local bool in[PROC_TEXT_CPUS];
    const size_t size = CPU_ALLOC_SIZE(PROC_TEXT_CPUS);
    cpu_set_t *all = cpu_places(in) > 0 ? CPU_ALLOC(PROC_TEXT_CPUS) : NULL;
    if (!all) return;
    CPU_ZERO_S(size, all);
    for (size_t i = 0; i < PROC_TEXT_CPUS; i++) {
        if (in[i]) CPU_SET_S(i, size, all);
    }
    (void)sched_setaffinity(0, size, all);
    CPU_FREE(all);
}
