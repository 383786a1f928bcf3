#include "backend/cpu_threads.h"

#include "backend/proc_text.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

int cpu_threads_most(void)
{
    return omp_get_thread_limit();
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
    processors = cpu_info_read(&info, "") == ST_OK ? info.usable : omp_get_num_procs();
    __atomic_store_n(&known, processors, __ATOMIC_RELAXED);
    return processors;
}

/* ---- whether the system lets them start ---- */

static void *pass(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

static int64_t count_now(void)
{
    char text[8192], value[64];
    const bool known = proc_text_read("", "/proc/self/status", text, sizeof text) &&
                       proc_text_field(text, "Threads", value, sizeof value);
    return known ? strtoll(value, NULL, 10) : 0;
}

/* A thread that was joined counts against the limits of the system a moment longer. */
static void wait_until_gone(int64_t before)
{
    enum { TRIES = 10000 };
    for (int i = 0; i < TRIES && count_now() > before; i++) sched_yield();
}

/* As OpenMP's threads get them: "512k", kilobytes where there is no letter. 0: the system's own size. */
static size_t stack_size(void)
{
    static const char units[] = "bkmg";
    const char *text = getenv("OMP_STACKSIZE");
    char *end = NULL;
    const unsigned long long n = text && !strchr(text, '-') ? strtoull(text, &end, 10) : 0;
    if (n == 0) return 0;
    const char *unit = *end ? strchr(units, *end | 0x20) : units + 1;
    const int bits = unit ? 10 * (int)(unit - units) : 0;
    return n <= SIZE_MAX >> bits ? (size_t)n << bits : 0;
}

/* So many at once; returns how many there were, and why no more. */
static int try_threads(pthread_t *threads, int n, int *why)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_attr_t with;
    const size_t stack = stack_size();
    const int64_t before = count_now();
    int started = 0;
    *why = 0;
    pthread_attr_init(&with);
    if (stack > 0) (void)pthread_attr_setstacksize(&with, stack); /* OpenMP, too, goes on without */
    pthread_mutex_lock(&gate);
    while (*why == 0 && started < n) {
        *why = pthread_create(&threads[started], &with, pass, &gate);
        started += *why == 0;
    }
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    pthread_attr_destroy(&with);
    wait_until_gone(before);
    return started;
}

/* libgomp ends the process where one of its threads does not start. */
static Status check_system(int threads)
{
    int why = 0;
    pthread_t *others = calloc((size_t)threads, sizeof *others);
    if (!others) return NO_MEMORY("for %d threads", threads);
    const int started = 1 + try_threads(others, threads - 1, &why);
    free(others);
    if (started == threads) return ST_OK;
    return FAIL(ST_FAILED,
                "cpu: the system starts %d of %d threads (%s): use --threads %d, or allow more "
                "(ulimit -u, pids.max of the cgroup, ulimit -v%s)",
                started, threads, strerror(why), started,
                getenv("OMP_STACKSIZE") ? ", OMP_STACKSIZE" : "");
}

/* ---- whether OpenMP does ---- */

static int count_in_region(int threads)
{
    int count = 0;
#pragma omp parallel num_threads(threads)
#pragma omp master
    count = omp_get_num_threads();
    return count;
}

static Status check_openmp(int threads)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(1);
    const int count = count_in_region(threads);
    if (count == threads) return ST_OK;
    return FAIL(ST_FAILED,
                "cpu: OpenMP computes with %d of %d threads: use --threads %d, or unset what keeps "
                "the others away (OMP_THREAD_LIMIT, KMP_DEVICE_THREAD_LIMIT, KMP_LIBRARY)",
                count, threads, count);
}

Status cpu_threads_start(int threads)
{
    static int started; /* most so far */
    if (threads <= started) return ST_OK;
    if (threads > 1) TRY(check_system(threads));
    TRY(check_openmp(threads));
    started = threads;
    return ST_OK;
}
