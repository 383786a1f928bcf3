/* What a region costs: our team and the compiler's OpenMP in turn, medians of rounds.
 *
 * region_times [THREADS [ROUNDS]] (2, 41)
 *
 * Run by hand: a comparison of speeds is no test on a busy machine. With GOMP_SPINCOUNT=30000
 * (aarch64) or 1000 (x86-64) libgomp spins for as long as our threads do. */
#include "backend/thread_team.h"
#include "base/clock.h"
#include "base/stats.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { REGIONS = 200, MOST_ROUNDS = 1000, INDICES = 64 };

static int threads = 2, rounds = 41;
static int64_t sums[1024][8];

static void add(int thread)
{
    sums[thread][0]++;
}

static void body(const void *data, int thread, int n)
{
    (void)data, (void)n;
    add(thread);
}

static void body_with_barrier(const void *data, int thread, int n)
{
    body(data, thread, n);
    thread_team_barrier(n);
}

static void range(const void *data, int64_t first, int64_t last, int thread)
{
    (void)data;
    for (int64_t i = first; i < last; i++) add(thread);
}

static void team_region(void)
{
    thread_team_run(threads, body, NULL);
}

static void openmp_region(void)
{
#pragma omp parallel num_threads(threads)
    add(omp_get_thread_num());
}

static void team_barrier(void)
{
    thread_team_run(threads, body_with_barrier, NULL);
}

static void openmp_barrier(void)
{
#pragma omp parallel num_threads(threads)
    {
        add(omp_get_thread_num());
#pragma omp barrier
    }
}

static void team_loop(void)
{
    thread_team_for(threads, INDICES, 8, range, NULL);
}

static void openmp_loop(void)
{
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int i = 0; i < INDICES; i++) add(omp_get_thread_num());
}

static double microseconds(void (*region)(void))
{
    for (int i = 0; i < 100; i++) region();
    const double start = clock_seconds();
    for (int i = 0; i < REGIONS; i++) region();
    return (clock_seconds() - start) / REGIONS * 1e6;
}

static double least(const double *times)
{
    double time = times[0];
    for (int i = 1; i < rounds; i++) time = times[i] < time ? times[i] : time;
    return time;
}

static void compare(const char *name, void (*team)(void), void (*openmp)(void))
{
    static double ours[MOST_ROUNDS], theirs[MOST_ROUNDS];
    for (int i = 0; i < rounds; i++) {
        ours[i] = microseconds(team);
        theirs[i] = microseconds(openmp);
    }
    printf("%-24s team %8.3f us, least %6.3f   OpenMP %8.3f us, least %6.3f\n", name,
           stats_median(ours, rounds), least(ours), stats_median(theirs, rounds), least(theirs));
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : threads;
    rounds = argc > 2 ? atoi(argv[2]) : rounds;
    if (threads < 2 || threads > 1024 || rounds < 1 || rounds > MOST_ROUNDS) return 2;
    if (thread_team_start(threads) != ST_OK) {
        fprintf(stderr, "region_times: %s\n", status_message());
        return 1;
    }
    printf("%d threads, medians of %d rounds of %d regions\n", threads, rounds, REGIONS);
    compare("region", team_region, openmp_region);
    compare("region with a barrier", team_barrier, openmp_barrier);
    compare("loop of 64, 8 at a time", team_loop, openmp_loop);
    return 0;
}
