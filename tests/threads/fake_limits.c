/* Loaded before the C library: a machine that lets a process have few threads (FAKE_THREADS), and
 * that notes how many threads a BLAS library is given (FAKE_NOTES, a file: one number a line). */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static long threads_now(void)
{
    DIR *tasks = opendir("/proc/self/task");
    long n = -2; /* "." and ".." */
    while (tasks && readdir(tasks)) n++;
    if (tasks) closedir(tasks);
    return n;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
    typedef int Create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    const char *most = getenv("FAKE_THREADS");
    Create *create;
    if (most && threads_now() >= strtol(most, NULL, 10)) return EAGAIN;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attr, body, arg);
}

static void note(const char *setter, int64_t n)
{
    void (*set)(int64_t);
    FILE *notes = getenv("FAKE_NOTES") ? fopen(getenv("FAKE_NOTES"), "a") : NULL;
    if (notes) {
        fprintf(notes, "%lld\n", (long long)n);
        fclose(notes);
    }
    *(void **)&set = dlsym(RTLD_NEXT, setter);
    set(n);
}

void bli_thread_set_num_threads(int64_t n)
{
    note("bli_thread_set_num_threads", n);
}

void openblas_set_num_threads(int n)
{
    note("openblas_set_num_threads", n);
}
