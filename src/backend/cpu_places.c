#include "backend/cpu_places.h"

#include "backend/openmp_library.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static int count_places(void)
{
    const OpenmpLibrary *openmp = openmp_library();
    return openmp->get_num_places && openmp->get_place_num_procs && openmp->get_place_proc_ids
               ? openmp->get_num_places()
               : 0;
}

static int add_place(int place, bool in[PROC_TEXT_CPUS])
{
    const OpenmpLibrary *openmp = openmp_library();
    const int n = openmp->get_place_num_procs(place);
    int count = 0, *ids = calloc((size_t)(n > 0 ? n : 1), sizeof *ids);
    if (!ids) return 0;
    openmp->get_place_proc_ids(place, ids);
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
    for (int i = 0, n = count_places(); i < n; i++) count += add_place(i, in);
    return count;
}

static void bind_to(const bool in[PROC_TEXT_CPUS])
{
    const size_t size = CPU_ALLOC_SIZE(PROC_TEXT_CPUS);
    cpu_set_t *set = CPU_ALLOC(PROC_TEXT_CPUS);
    if (!set) return;
    CPU_ZERO_S(size, set);
    for (size_t i = 0; i < PROC_TEXT_CPUS; i++) {
        if (in[i]) CPU_SET_S(i, size, set);
    }
    (void)sched_setaffinity(0, size, set);
    CPU_FREE(set);
}

static bool own_places[PROC_TEXT_CPUS];
static int n_own;

void cpu_places_own(const bool own[PROC_TEXT_CPUS])
{
    n_own = 0;
    for (int cpu = 0; cpu < PROC_TEXT_CPUS; cpu++) n_own += own_places[cpu] = own[cpu];
}

static void bind_to_own(int thread)
{
    bool *in = calloc(PROC_TEXT_CPUS, sizeof *in);
    int cpu = 0;
    for (int before = thread; cpu < PROC_TEXT_CPUS; cpu++) {
        if (own_places[cpu] && before-- == 0) break;
    }
    if (in && cpu < PROC_TEXT_CPUS) {
        in[cpu] = true;
        bind_to(in);
    }
    free(in);
}

static void bind_to_place(int thread, int threads)
{
    enum { BIND_FALSE, BIND_MASTER = 2, BIND_SPREAD = 4 }; /* omp_proc_bind_t */
    const OpenmpLibrary *openmp = openmp_library();
    const int bind = openmp->get_proc_bind ? openmp->get_proc_bind() : BIND_FALSE;
    const int places = bind == BIND_FALSE ? 0 : count_places();
    if (places == 0) return;
    bool *in = calloc(PROC_TEXT_CPUS, sizeof *in);
    const bool apart = bind == BIND_SPREAD || threads > places;
    const int place = bind == BIND_MASTER ? 0 : apart ? thread * places / threads : thread;
    if (in && add_place(place, in) > 0) bind_to(in);
    free(in);
}

void cpu_places_bind(int thread, int threads)
{
    if (n_own == threads)
        bind_to_own(thread);
    else
        bind_to_place(thread, threads);
}

void cpu_places_unbind(void)
{
    bool *in = calloc(PROC_TEXT_CPUS, sizeof *in);
    if (in && cpu_places(in) > 0) bind_to(in);
    free(in);
}
