/* Every fp32 product of the training steps of tiny, small and medium: our own beside BLAS
 * libraries, each with its own threads, in turn in one run; medians; all in large pages, as in a
 * step. One thread is timed by its time on the processor, which other programs do not count in. Not
 * a test: a table for people. usage: product_rates THREADS LIBRARY.so... */
#include "base/clock.h"
#include "base/stats.h"
#include "exec/step_plan.h"
#include "ops/gemm_cpu/gemm_cpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    ROUNDS = 9,
    MOST_LIBRARIES = 4,
    MOST_SHAPES = 128,
    LARGE_PAGE = 2 << 20,
    ROW_MAJOR = 101,
    PLAIN = 111,
    TURNED = 112
};

typedef void Sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                   int lda, const float *b, int ldb, float beta, float *c, int ldc);

typedef struct Library {
    const char *name;
    Sgemm *multiply;
} Library;

typedef struct Shape {
    int64_t m, n, k;
    bool transpose_a, transpose_b;
} Shape;

static int threads;
static Library libraries[MOST_LIBRARIES];
static int n_libraries;

static void open_library(const char *path)
{
    static const char *const setters[] = {"bli_thread_set_num_threads", "openblas_set_num_threads"};
    /* or it would call the functions of the library that we are linked with */
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    void *multiply = lib ? dlsym(lib, "cblas_sgemm") : NULL;
    if (!multiply || n_libraries == MOST_LIBRARIES) {
        fprintf(stderr, "product_rates: %s: %s\n", path, lib ? "no cblas_sgemm" : dlerror());
        exit(2);
    }
    for (size_t i = 0; i < sizeof setters / sizeof *setters; i++) {
        void *set = dlsym(lib, setters[i]);
        if (!set) continue;
        if (i == 0) {
            ((void (*)(int64_t))(uintptr_t)set)(threads);
        } else {
            ((void (*)(int))(uintptr_t)set)(threads);
        }
    }
    const char *slash = strrchr(path, '/');
    libraries[n_libraries++] = (Library){slash ? slash + 1 : path, (Sgemm *)(uintptr_t)multiply};
}

static Shape shape_of(const Plan *plan, const Node *node)
{
    const Tensor *c = plan_out(plan, node, 0), *a = plan_in(plan, node, 0);
    const bool ta = node->attr.transpose_a, tb = node->attr.transpose_b;
    return (Shape){plan_rows(c), plan_width(c), ta ? plan_rows(a) : plan_width(a), ta, tb};
}

static int gather(const char *size, Shape *shapes)
{
    static Model model;
    static Binding binding;
    Config config;
    int n = 0;
    config_defaults(&config);
    config.ctx = 128;
    if (model_spec_preset(&config.model, size) != ST_OK ||
        step_plan_make(&model, &binding, &config, MODE_TRAIN, BACKEND_cpu, 0, threads) != ST_OK) {
        fprintf(stderr, "product_rates: %s\n", status_message());
        exit(1);
    }
    for (int i = 0; i < model.plan.n_nodes && n < MOST_SHAPES; i++) {
        if (model.plan.nodes[i].op != OP_matmul) continue;
        const Shape s = shape_of(&model.plan, &model.plan.nodes[i]);
        int j = 0;
        while (j < n && (shapes[j].m != s.m || shapes[j].n != s.n || shapes[j].k != s.k ||
                         shapes[j].transpose_a != s.transpose_a)) {
            j++;
        }
        if (j == n) shapes[n++] = s;
    }
    binding_free(&binding);
    model_free(&model);
    return n;
}

static float *numbers(int64_t n)
{
    const size_t bytes = ((size_t)n * sizeof(float) + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    float *x = aligned_alloc(LARGE_PAGE, bytes);
    if (!x) exit(1);
    madvise(x, bytes, MADV_HUGEPAGE);
    for (int64_t i = 0; i < n; i++) x[i] = (float)(i % 17) - 8;
    return x;
}

static double seconds_now(void)
{
    struct timespec t;
    if (threads > 1) return clock_seconds();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void multiply_own(const Shape *s, const float *a, const float *b, float *c, void *workspace)
{
    const int64_t lda = s->transpose_a ? s->m : s->k, ldb = s->transpose_b ? s->k : s->n;
    const GemmPlan p = {.kernel = microkernel_find(DT_F32),
                        .m = s->m,
                        .n = s->n,
                        .k = s->k,
                        .a = {a, DT_F32, s->transpose_a ? 1 : lda, s->transpose_a ? lda : 1},
                        .b = {b, DT_F32, s->transpose_b ? ldb : 1, s->transpose_b ? 1 : ldb},
                        .c = c,
                        .scale = 1,
                        .c_dtype = DT_F32,
                        .ldc = s->n};
    gemm_multiply(&p, workspace, threads);
}

static void multiply_with(const Library *lib, const Shape *s, const float *a, const float *b,
                          float *c)
{
    const int64_t lda = s->transpose_a ? s->m : s->k, ldb = s->transpose_b ? s->k : s->n;
    lib->multiply(ROW_MAJOR, s->transpose_a ? TURNED : PLAIN, s->transpose_b ? TURNED : PLAIN,
                  (int)s->m, (int)s->n, (int)s->k, 1, a, (int)lda, b, (int)ldb, 0, c, (int)s->n);
}

/* GFLOP/s of ours and of every library; returns ours over the best of theirs. */
static double compare(const char *size, const Shape *s)
{
    static double seconds[MOST_LIBRARIES + 1][ROUNDS];
    const GemmPlan sizes = {.kernel = microkernel_find(DT_F32), .m = s->m, .n = s->n, .k = s->k};
    float *a = numbers(s->m * s->k), *b = numbers(s->n * s->k), *c = numbers(s->m * s->n);
    void *workspace = numbers((int64_t)(gemm_workspace(&sizes, threads) / sizeof(float)) + 16);
    double theirs = 0, ours = 0;
    for (int round = -1; round < ROUNDS; round++) {
        for (int i = 0; i <= n_libraries; i++) {
            const double start = seconds_now();
            if (i == 0) {
                multiply_own(s, a, b, c, workspace);
            } else {
                multiply_with(&libraries[i - 1], s, a, b, c);
            }
            if (round >= 0) seconds[i][round] = seconds_now() - start;
        }
    }
    printf("| %s | %lld x %lld x %lld %c%c |", size, (long long)s->m, (long long)s->n,
           (long long)s->k, s->transpose_a ? 't' : 'n', s->transpose_b ? 't' : 'n');
    for (int i = 0; i <= n_libraries; i++) {
        const double rate =
            2e-9 * (double)s->m * (double)s->n * (double)s->k / stats_median(seconds[i], ROUNDS);
        if (i == 0) ours = rate;
        if (i > 0 && rate > theirs) theirs = rate;
        printf(" %.1f |", rate);
    }
    printf(" %.3f |\n", ours / theirs);
    fflush(stdout);
    free(a);
    free(b);
    free(c);
    free(workspace);
    return ours / theirs;
}

int main(int argc, char **argv)
{
    static const char *const sizes[] = {"tiny", "small", "medium"};
    double least = 1e9;
    threads = argc > 2 ? atoi(argv[1]) : 0;
    if (threads < 1) {
        fprintf(stderr, "usage: product_rates THREADS LIBRARY.so...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) open_library(argv[i]);
    printf("| size | m x n x k | own %s |", microkernel_find(DT_F32)->name);
    for (int i = 0; i < n_libraries; i++) printf(" %s |", libraries[i].name);
    printf(" own / best |\n|:--|:--|--:|");
    for (int i = 0; i <= n_libraries; i++) printf("--:|");
    printf("\n");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        static Shape shapes[MOST_SHAPES];
        const int n = gather(sizes[i], shapes);
        for (int j = 0; j < n; j++) {
            const double ratio = compare(sizes[i], &shapes[j]);
            least = ratio < least ? ratio : least;
        }
    }
    printf("\nleast own / best: %.3f (GFLOP/s, %d threads, medians of %d in turn)\n", least,
           threads, ROUNDS);
    return 0;
}
