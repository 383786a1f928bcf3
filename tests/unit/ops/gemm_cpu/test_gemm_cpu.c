/* Every microkernel that runs here through the packed product, against float64. */
#include "backend/cpu_features.h"
#include "ops/element.h"
#include "ops/gemm_cpu/gemm_blocking_cpu.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXTRA = 3 }; /* a leading dimension is this much more than the width */
static const float untouched = -77;

typedef struct Trial {
    const Microkernel *kernel;
    int64_t m, n, k;
    bool transpose_a, transpose_b;
    DType a, b, c;
    int threads;
    float scale;
    double (*value)(uint64_t i);
} Trial;

/* Operands end with their last element, so that a sanitizer sees any read beyond it. */
typedef struct Matrix {
    int64_t rows, columns, ld;
    DType dtype;
    void *data;
} Matrix;

static double noise(uint64_t i)
{
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (double)(x >> 11) * 0x1p-52 - 1;
}

static double get(const Matrix *m, int64_t i, int64_t j)
{
    return element_get(m->data, m->dtype, i * m->ld + j);
}

static Matrix matrix(int64_t rows, int64_t columns, DType dtype)
{
    Matrix m = {rows, columns, columns + EXTRA, dtype, NULL};
    m.data = malloc((size_t)((rows - 1) * m.ld + columns) * plan_dtype_size(dtype));
    assert_non_null(m.data);
    return m;
}

static void fill(Matrix *m, double (*value)(uint64_t), uint64_t seed)
{
    const int64_t n = (m->rows - 1) * m->ld + m->columns;
    for (int64_t i = 0; i < n; i++) {
        element_set(m->data, m->dtype, i, value(seed + (uint64_t)i));
    }
}

static double always_untouched(uint64_t i)
{
    (void)i;
    return (double)untouched;
}

static PackSource source(const Matrix *m, bool lines_are_rows)
{
    return (PackSource){m->data, m->dtype, lines_are_rows ? m->ld : 1, lines_are_rows ? 1 : m->ld};
}

static void multiply(const Trial *t, const Matrix *a, const Matrix *b, const Matrix *c)
{
    const GemmPlan p = {.kernel = t->kernel,
                        .m = t->m,
                        .n = t->n,
                        .k = t->k,
                        .a = source(a, !t->transpose_a),
                        .b = source(b, t->transpose_b),
                        .c = c->data,
                        .scale = t->scale,
                        .c_dtype = c->dtype,
                        .ldc = c->ld};
    void *workspace = aligned_alloc(64, (gemm_workspace(&p, t->threads) + 63) / 64 * 64);
    assert_non_null(workspace);
    gemm_multiply(&p, workspace, t->threads);
    free(workspace);
}

/* Half an ulp for one rounding to the result's dtype, relative. */
static double rounding(DType dtype)
{
    return dtype == DT_BF16 ? 0x1p-8 : dtype == DT_F16 ? 0x1p-11 : 0x1p-24;
}

/* Between denormal numbers, where results get that small here. */
static double least_step(DType dtype)
{
    return dtype == DT_F16 ? 0x1p-24 : 0;
}

/* k sums in fp32 err by at most k ulps of the sum of absolute products: half an ulp each when rounded to
 * nearest, a whole one when BFMMLA rounds to odd. */
static double of_a_sum(const Microkernel *kernel)
{
    return kernel->operand == DT_BF16 ? 0x1p-23 : 0x1p-24;
}

static void check_element(const Trial *t, double got, double sum, double absolute)
{
    const double error = (double)t->k * of_a_sum(t->kernel) * absolute;
    const double bound = error + rounding(t->c) * (fabs(sum) + error) + least_step(t->c) / 2;
    const bool same = isnan(sum) ? isnan(got) : isinf(sum) ? got == sum : fabs(got - sum) <= bound;
    if (same) return;
    fail_msg("%s, %lld x %lld x %lld, %c%c, %s * %s = %s, %d threads: %g instead of %g",
             t->kernel->name, (long long)t->m, (long long)t->n, (long long)t->k,
             t->transpose_a ? 't' : 'n', t->transpose_b ? 't' : 'n', plan_dtype_name(t->a),
             plan_dtype_name(t->b), plan_dtype_name(t->c), t->threads, got, sum);
}

static void check(const Trial *t, const Matrix *a, const Matrix *b, const Matrix *c)
{
    for (int64_t i = 0; i < t->m; i++) {
        for (int64_t j = 0; j < t->n; j++) {
            double sum = 0, absolute = 0;
            for (int64_t k = 0; k < t->k; k++) {
                const double x = t->transpose_a ? get(a, k, i) : get(a, i, k);
                const double y = t->transpose_b ? get(b, j, k) : get(b, k, j);
                sum += x * y;
                absolute += fabs(x * y);
            }
            check_element(t, get(c, i, j), t->scale * sum, fabs(t->scale * absolute));
        }
        for (int64_t j = t->n; i < t->m - 1 && j < c->ld; j++) {
            if (get(c, i, j) != (double)untouched)
                fail_msg("%s wrote between rows", t->kernel->name);
        }
    }
}

static void try_one(const Trial *t)
{
    Matrix a = matrix(t->transpose_a ? t->k : t->m, t->transpose_a ? t->m : t->k, t->a);
    Matrix b = matrix(t->transpose_b ? t->n : t->k, t->transpose_b ? t->k : t->n, t->b);
    Matrix c = matrix(t->m, t->n, t->c);
    fill(&a, t->value, 0);
    fill(&b, t->value, 1000003);
    fill(&c, always_untouched, 0);
    multiply(t, &a, &b, &c);
    check(t, &a, &b, &c);
    free(a.data);
    free(b.data);
    free(c.data);
}

/* Every form of transposition. */
static void try_forms(Trial t)
{
    for (int form = 0; form < 4; form++) {
        t.transpose_a = form & 1;
        t.transpose_b = form & 2;
        try_one(&t);
    }
}

/* The plain one with strips: on some machines no other has them. */
static const Microkernel *plain_with_strips(void)
{
    static Microkernel kernel;
    kernel = microkernel_plain;
    kernel.name = "plain with strips";
    kernel.strip = MICROKERNEL_GRAIN;
    return &kernel;
}

/* Each kernel that runs here, and that one. */
static const Microkernel *next_kernel(int *i)
{
    while (*i >= 0) {
        const Microkernel *kernel = microkernel_list[*i];
        *i = kernel ? *i + 1 : -1;
        if (!kernel) return plain_with_strips();
        if (!kernel->needs || cpu_features_has(kernel->needs)) return kernel;
    }
    return NULL;
}

static Trial trial(const Microkernel *kernel)
{
    return (Trial){.kernel = kernel,
                   .a = kernel->operand,
                   .b = kernel->operand,
                   .c = DT_F32,
                   .threads = 1,
                   .scale = 1,
                   .value = noise};
}

/* Every pair of remainders of rows, columns and k: packing meets the lines of one side and k, a tile rows and columns. All
 * three at a time took minutes. */
static void test_remainders(void **state)
{
    (void)state;
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        const int64_t rows = kernel->rows + 1, columns = kernel->columns + 1,
                      depths = 2 * kernel->depth + 1;
        Trial t = trial(kernel);
        for (t.m = 1; t.m <= rows; t.m++) {
            for (t.n = 1; t.n <= columns; t.n++) {
                t.k = 1 + (t.m * 7 + t.n * 5) % depths;
                try_forms(t);
            }
        }
        for (t.k = 1; t.k <= depths; t.k++) {
            for (t.m = 1; t.m <= rows; t.m++) {
                t.n = 1 + (t.m * 7 + t.k * 5) % columns;
                try_forms(t);
            }
            for (t.n = 1; t.n <= columns; t.n++) {
                t.m = 1 + (t.n * 7 + t.k * 5) % rows;
                try_forms(t);
            }
        }
    }
}

/* Beyond a block of the result, a packed part, a piece of k, a span of pieces; threads that get none. */
static void test_blocks(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {
        {97, 193, 5},  {193, 97, 131}, {200, 13, 1543}, {3, 230, 385}, {13, 200, 1100}, {401, 1, 3},
        {200, 780, 5}, {780, 200, 5},  {99, 2, 4207},   {2, 99, 4097}, {5, 3, 12289}};
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        Trial t = trial(kernel);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            t.m = sizes[s][0];
            t.n = sizes[s][1];
            t.k = sizes[s][2];
            t.threads = 1 + (int)s % 5;
            t.scale = s % 2 ? 0.37F : 1;
            try_forms(t);
        }
    }
}

static void hold_same(const Trial *t, const Matrix *one, const Matrix *more)
{
    for (int64_t i = 0; i < t->m; i++) {
        for (int64_t j = 0; j < t->n; j++) {
            if (get(one, i, j) != get(more, i, j))
                fail_msg("%s: %d threads, row %lld, column %lld", t->kernel->name, t->threads,
                         (long long)i, (long long)j);
        }
    }
}

/* A bit for each kind of strips, another where the last ones are narrow. */
static unsigned kind_of(Strips strips, bool narrow)
{
    return 1U << (2 * strips + narrow);
}

/* Returns the kinds of strips that were taken. */
static unsigned hold_threads(Trial t)
{
    static const int threads[] = {2, 3, 7, 16, 64};
    Matrix a = matrix(t.m, t.k, t.a), b = matrix(t.k, t.n, t.b), one = matrix(t.m, t.n, t.c);
    unsigned strips = 0;
    fill(&a, noise, 0);
    fill(&b, noise, 1);
    fill(&one, always_untouched, 0);
    multiply(&t, &a, &b, &one);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        const GemmPlan p = {.kernel = t.kernel, .m = t.m, .n = t.n, .k = t.k};
        Matrix more = matrix(t.m, t.n, t.c);
        t.threads = threads[i];
        const Cut cut = gemm_blocking(&p, t.threads);
        strips |= kind_of(cut.strips, cut.narrow > 0);
        fill(&more, always_untouched, 0);
        multiply(&t, &a, &b, &more);
        hold_same(&t, &one, &more);
        free(more.data);
    }
    free(a.data);
    free(b.data);
    free(one.data);
    return strips;
}

/* Few threads take strips of a or of b, many take those of both: no bit depends on that. */
static void test_threads_agree(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{110, 230, 4207}, {192, 1446, 217}, {1446, 192, 1100},
                                       {400, 430, 217},  {430, 400, 217},  {512, 768, 70},
                                       {210, 220, 70}};
    const int n_sizes = (int)(sizeof sizes / sizeof *sizes);
    const unsigned every_kind = kind_of(STRIPS_OF_A, true) | kind_of(STRIPS_OF_B, true) |
                                kind_of(STRIPS_OF_BOTH, false) | kind_of(STRIPS_OF_BOTH, true);
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        unsigned strips = 0;
        for (int s = 0; s < (kernel->strip ? n_sizes : 1); s++) {
            Trial t = trial(kernel);
            t.m = sizes[s][0];
            t.n = sizes[s][1];
            t.k = sizes[s][2];
            strips |= hold_threads(t);
        }
        if (kernel->strip && (strips & every_kind) != every_kind)
            fail_msg("%s: not every kind of strips is tested: %x", kernel->name, strips);
    }
}

/* How often each tile of the result is in a block of the cut: once, in one that has room for it. */
static void hold_cover(const GemmPlan *p, int threads)
{
    enum { MOST = 65536 };
    static uint8_t times[MOST];
    const Cut cut = gemm_blocking(p, threads);
    const int64_t across = gemm_pieces(p->n, cut.column),
                  tiles = across * gemm_pieces(p->m, cut.row);
    assert_true(tiles <= MOST);
    memset(times, 0, sizeof times);
    for (int64_t i = 0; i < cut.down * cut.across; i++) {
        const Place at = gemm_blocking_place(p, &cut, i);
        assert_true(at.row % cut.row == 0 && at.column % cut.column == 0);
        assert_true(at.rows <= cut.rows && at.columns <= cut.columns);
        assert_true(at.row + at.rows <= p->m && at.column + at.columns <= p->n);
        for (int64_t y = at.row; y < at.row + at.rows; y += cut.row) {
            for (int64_t x = at.column; x < at.column + at.columns; x += cut.column) {
                times[y / cut.row * across + x / cut.column]++;
            }
        }
    }
    for (int64_t i = 0; i < tiles; i++) {
        if (times[i] != 1)
            fail_msg("%s, %lld x %lld on %d threads: tile %lld is made %d times", p->kernel->name,
                     (long long)p->m, (long long)p->n, threads, (long long)i, times[i]);
    }
}

static void test_cuts_cover(void **state)
{
    (void)state;
    static const int sizes[] = {1, 7, 31, 32, 33, 63, 96, 97, 191, 200, 257, 385, 430, 512, 769};
    const int n = (int)(sizeof sizes / sizeof *sizes);
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        for (int j = 0; j < n * n; j++) {
            const GemmPlan p = {.kernel = kernel, .m = sizes[j / n], .n = sizes[j % n], .k = 64};
            for (int threads = 1; threads <= 64; threads += threads < 4 ? 1 : 6) {
                hold_cover(&p, threads);
            }
        }
    }
}

/* Where the part of what is packed beforehand begins that block i reads. */
static int64_t part_of_block(const GemmPlan *p, const Cut *cut, int64_t i)
{
    const Place at = gemm_blocking_place(p, cut, i);
    return cut->strips == STRIPS_OF_A ? at.column : at.row;
}

/* The last thread gets all blocks of its own part, then of the next one ... `most` queues there were, for each kind of strips. */
static void hold_queues(const GemmPlan *p, int threads, int64_t most[STRIPS_OF_BOTH + 1])
{
    const Cut cut = gemm_blocking(p, threads);
    CutQueues queues = gemm_blocking_queues(&cut);
    int64_t turn = 0, taken = 0, part = -1;
    assert_in_range(queues.n, 1, PACKED_MOST_QUEUES);
    for (int64_t i; (i = gemm_blocking_next(&queues, threads - 1, &turn)) >= 0; taken++) {
        const int64_t now = part_of_block(p, &cut, i);
        if (taken == 0) assert_int_equal(i, (threads - 1) % queues.n);
        if (queues.n > 1) assert_true(taken % queues.each ? now == part : now != part);
        part = now;
    }
    assert_int_equal(taken, cut.down * cut.across);
    if (queues.n > most[cut.strips]) most[cut.strips] = queues.n;
}

static void test_queues(void **state)
{
    (void)state;
    static const int sizes[] = {97, 512, 768, 2304, 6144, 20000};
    const int n = (int)(sizeof sizes / sizeof *sizes);
    int64_t most[STRIPS_OF_BOTH + 1] = {0};
    for (int j = 0; j < n * n; j++) {
        const GemmPlan p = {
            .kernel = plain_with_strips(), .m = sizes[j / n], .n = sizes[j % n], .k = 64};
        for (int threads = 1; threads <= 128; threads *= 2) hold_queues(&p, threads, most);
    }
    assert_true(most[STRIPS_OF_A] > 1 && most[STRIPS_OF_B] > 1);
    assert_int_equal(most[STRIPS_OF_BOTH], 1);
    const Cut cut = {.strips = STRIPS_OF_B, .down = PACKED_MOST_QUEUES + 1, .across = 1};
    assert_int_equal(gemm_blocking_queues(&cut).n, 1);
}

/* More queues than threads: each takes blocks of several. */
static void test_queues_of_others(void **state)
{
    (void)state;
    Trial t = trial(plain_with_strips());
    t.m = 2100;
    t.n = 2200;
    t.k = 2;
    const GemmPlan p = {.kernel = t.kernel, .m = t.m, .n = t.n, .k = t.k};
    for (t.threads = 1; t.threads <= 2; t.threads++) {
        const Cut cut = gemm_blocking(&p, t.threads);
        assert_true(gemm_blocking_queues(&cut).n > t.threads);
        try_one(&t);
    }
}

static double a_tenth(uint64_t i)
{
    (void)i;
    return 0.1;
}

/* Added one after the other, that many of the same number are off by percents. */
static void test_long_sums(void **state)
{
    (void)state;
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        Trial t = trial(kernel);
        t.m = t.n = 2;
        t.k = 300007;
        Matrix a = matrix(2, t.k, t.a), b = matrix(t.k, 2, t.b), c = matrix(2, 2, t.c);
        fill(&a, a_tenth, 0);
        fill(&b, a_tenth, 0);
        multiply(&t, &a, &b, &c);
        const double sum = (double)t.k * get(&a, 0, 0) * get(&b, 0, 0);
        if (fabs(get(&c, 1, 1) / sum - 1) > 1e-4)
            fail_msg("%s: %g instead of %g", kernel->name, get(&c, 1, 1), sum);
        free(a.data);
        free(b.data);
        free(c.data);
    }
}

static void test_dtypes(void **state)
{
    (void)state;
    static const DType dtypes[] = {DT_F32, DT_BF16, DT_F16};
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        for (int j = 0; j < 27; j++) {
            Trial t = trial(kernel);
            t.m = t.n = 29;
            t.k = 10;
            t.c = dtypes[j % 3];
            if (kernel->operand == DT_F32) {
                t.a = dtypes[j / 3 % 3];
                t.b = dtypes[j / 9];
            }
            try_forms(t);
        }
    }
}

static double mostly_noise(uint64_t i)
{
    static const double odd[] = {INFINITY, -INFINITY, NAN, 0};
    return i % 41 == 7 ? odd[i / 41 % 4] : noise(i);
}

/* They spread to their own rows and columns, and not from what fills a panel up. */
static void test_infinities(void **state)
{
    (void)state;
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        Trial t = trial(kernel);
        t.value = mostly_noise;
        t.m = kernel->rows + 3;
        t.n = kernel->columns + 5;
        for (t.k = 1; t.k <= 2 * kernel->depth + 1; t.k++) try_forms(t);
    }
}

/* One of them in all of b: the other kernel's product, bit for bit, whatever strips there are. */
static void test_beyond(void **state)
{
    (void)state;
    static const int threads[] = {1, 3, 16};
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        if (!kernel->instead) continue;
        Trial t = trial(kernel);
        t.m = 192;
        t.n = 1446;
        t.k = 217;
        t.c = DT_F16;
        Matrix a = matrix(t.m, t.k, t.a), b = matrix(t.k, t.n, t.b);
        Matrix wanted = matrix(t.m, t.n, t.c), got = matrix(t.m, t.n, t.c);
        fill(&a, noise, 0);
        fill(&b, noise, 1);
        element_set(b.data, t.b, (t.k - 1) * b.ld + t.n - 1, INFINITY);
        t.kernel = kernel->instead;
        multiply(&t, &a, &b, &wanted);
        assert_true(isinf(get(&wanted, 0, t.n - 1)));
        t.kernel = kernel;
        for (int j = 0; j < 3; j++) {
            t.threads = threads[j];
            fill(&got, always_untouched, 0);
            multiply(&t, &a, &b, &got);
            hold_same(&t, &wanted, &got);
        }
        free(a.data);
        free(b.data);
        free(wanted.data);
        free(got.data);
    }
}

/* 2^-130 (a denormal number in bf16 and fp32) times 2^100, or 2^-22 (one in fp16) times 2^10. Kernels of fp32 and
 * fp16 count it; BFMMLA takes it for zero, unless the processor has FEAT_EBF16. */
static void test_denormals(void **state)
{
    (void)state;
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        Trial t = trial(kernel);
        t.m = t.n = t.k = 1;
        Matrix a = matrix(1, 1, t.a), b = matrix(1, 1, t.b), c = matrix(1, 1, t.c);
        const bool half = kernel->operand == DT_F16;
        const double small = half ? 0x1p-22 : 0x1p-130, large = half ? 0x1p10 : 0x1p100;
        element_set(a.data, t.a, 0, small);
        element_set(b.data, t.b, 0, large);
        multiply(&t, &a, &b, &c);
        const double got = get(&c, 0, 0);
        if (got != small * large && !(kernel->operand == DT_BF16 && got == 0)) {
            fail_msg("%s: %g * %g = %g", kernel->name, small, large, got);
        }
        free(a.data);
        free(b.data);
        free(c.data);
    }
}

/* Cells are processes: what a kernel set up for its thread must not be missed in a child. */
static void test_after_fork(void **state)
{
    (void)state;
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        Trial t = trial(kernel);
        t.m = t.n = t.k = 40;
        try_one(&t);
        const pid_t child = fork();
        if (child == 0) {
            try_one(&t);
            _exit(0);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status != 0) fail_msg("%s in a child: status %d", kernel->name, status);
    }
}

static void test_plain_is_last(void **state)
{
    (void)state;
    assert_non_null(microkernel_find(DT_F32));
    assert_null(microkernel_find(DT_F64));
    int i = 0;
    while (microkernel_list[i + 1]) i++;
    assert_ptr_equal(microkernel_list[i], &microkernel_plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remainders),    cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_threads_agree), cmocka_unit_test(test_cuts_cover),
        cmocka_unit_test(test_queues),        cmocka_unit_test(test_queues_of_others),
        cmocka_unit_test(test_long_sums),     cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_infinities),    cmocka_unit_test(test_beyond),
        cmocka_unit_test(test_denormals),     cmocka_unit_test(test_after_fork),
        cmocka_unit_test(test_plain_is_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
