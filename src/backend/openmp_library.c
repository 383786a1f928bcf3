#include "backend/openmp_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static OpenmpLibrary library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_library(void)
{
    const struct {
        void *function; /* a pointer to a function, in `library` */
        const char *name;
    } names[] = {
        {&library.get_num_places, "omp_get_num_places"},
        {&library.get_place_num_procs, "omp_get_place_num_procs"},
        {&library.get_place_proc_ids, "omp_get_place_proc_ids"},
        {&library.get_proc_bind, "omp_get_proc_bind"},
        {&library.set_num_threads, "omp_set_num_threads"},
        {&library.set_dynamic, "omp_set_dynamic"},
        {&library.set_max_active_levels, "omp_set_max_active_levels"},
        {&library.pause_resource_all, "omp_pause_resource_all"},
    };
    Dl_info from = {0};
    snprintf(library.file, sizeof library.file, "none");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *found = dlsym(RTLD_DEFAULT, names[i].name);
        memcpy(names[i].function, &found, sizeof found);
        if (found && dladdr(found, &from) != 0 && from.dli_fname) {
            const char *slash = strrchr(from.dli_fname, '/');
            snprintf(library.file, sizeof library.file, "%.63s",
                     slash ? slash + 1 : from.dli_fname);
        }
    }
}

const OpenmpLibrary *openmp_library(void)
{
    pthread_once(&once, find_library);
    return &library;
}

void openmp_library_set_threads(int threads)
{
    const OpenmpLibrary *openmp = openmp_library();
    if (openmp->set_num_threads) openmp->set_num_threads(threads);
    if (openmp->set_dynamic) openmp->set_dynamic(0);
    if (openmp->set_max_active_levels) openmp->set_max_active_levels(1);
}

void openmp_library_end_threads(void)
{
    enum { PAUSE_HARD = 2 }; /* omp_pause_hard */
    const OpenmpLibrary *openmp = openmp_library();
    if (openmp->pause_resource_all) (void)openmp->pause_resource_all(PAUSE_HARD);
}
