#include "prof/os_usage.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double timeval_seconds(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

/* "ran waited slices", both in nanoseconds. */
static void read_schedstat(const char *path, double *ran, double *waited)
{
    long long run_ns = 0, wait_ns = 0;
    FILE *file = fopen(path, "re");
    const bool told = file && fscanf(file, "%lld %lld", &run_ns, &wait_ns) == 2;
    if (file) fclose(file);
    *ran = told ? (double)run_ns * 1e-9 : NAN;
    *waited = told ? (double)wait_ns * 1e-9 : NAN;
}

OsUsage os_usage_read(void)
{
    struct rusage all;
    OsUsage use = {0};
    getrusage(RUSAGE_SELF, &all);
    use.voluntary = all.ru_nvcsw;
    use.involuntary = all.ru_nivcsw;
    use.minor_faults = all.ru_minflt;
    use.major_faults = all.ru_majflt;
    use.user = timeval_seconds(&all.ru_utime);
    use.system = timeval_seconds(&all.ru_stime);
    read_schedstat("/proc/thread-self/schedstat", &use.ran, &use.waited);
    return use;
}

static void read_name(OsThread *thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread->id);
    FILE *file = fopen(path, "re");
    if (file && !fgets(thread->name, sizeof thread->name, file)) thread->name[0] = '\0';
    if (file) fclose(file);
    thread->name[strcspn(thread->name, "\n")] = '\0';
}

int os_usage_threads(OsThread *threads, int most)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && n < most && (entry = readdir(folder));) {
        char path[64];
        const int id = atoi(entry->d_name);
        if (id <= 0) continue;
        threads[n] = (OsThread){.id = id};
        snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", id);
        read_schedstat(path, &threads[n].ran, &threads[n].waited);
        read_name(&threads[n]);
        n++;
    }
    if (folder) closedir(folder);
    return n;
}
