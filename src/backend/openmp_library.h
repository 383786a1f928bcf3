/* The OpenMP library that the BLAS brings into the process, if any. Our own threads are a
 * ThreadTeam (backend/thread_team.h); a BLAS built with OpenMP still takes its number of threads
 * from OpenMP, and libgomp binds the first thread before main(). */
#pragma once

/* The functions are NULL where there is no such library. */
typedef struct OpenmpLibrary {
    char file[64]; /* "libgomp.so.1", or "none" */
    int (*get_num_places)(void);
    int (*get_place_num_procs)(int place);
    void (*get_place_proc_ids)(int place, int *ids);
    int (*get_proc_bind)(void);
    void (*set_num_threads)(int threads);
    void (*set_dynamic)(int on);
    void (*set_max_active_levels)(int levels);
    int (*pause_resource_all)(int kind);
} OpenmpLibrary;

const OpenmpLibrary *openmp_library(void);

/* How many threads the BLAS library uses when the calling thread calls it, whatever OMP_DYNAMIC
 * and its like say. */
void openmp_library_set_threads(int threads);

/* Ends the library's threads: after a parallel region they spin for a while, up to 18 ms, while
 * ours compute. */
void openmp_library_end_threads(void);
