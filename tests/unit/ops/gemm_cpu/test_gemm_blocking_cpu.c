/* How a GEMM is blocked: every tile once, and the same bits however it is. */
#include "ops/gemm_cpu/gemm_parts_cpu.h"
#include "unit/ops/gemm_cpu/gemm_trial.h"

/* A bit for each kind of private panels, another where the last blocks are narrow. */
static unsigned kind_of(PrivatePanels panels, bool narrow)
{
    return 1U << (2 * panels + narrow);
}

/* Returns the kinds of private panels that were taken. */
static unsigned hold_threads(Trial t)
{
    static const int threads[] = {2, 3, 7, 16, 64};
    Matrix a = matrix(t.m, t.k, t.a), b = matrix(t.k, t.n, t.b), one = matrix(t.m, t.n, t.c);
    unsigned kinds = 0;
    fill(&a, noise, 0);
    fill(&b, noise, 1);
    fill(&one, always_untouched, 0);
    multiply(&t, &a, &b, &one);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        const GemmPlan p = {.kernel = t.kernel, .m = t.m, .n = t.n, .k = t.k};
        Matrix more = matrix(t.m, t.n, t.c);
        t.threads = threads[i];
        const GemmBlocking blocking = gemm_blocking(&p, t.threads);
        kinds |= kind_of(blocking.private_panels, blocking.narrow > 0);
        fill(&more, always_untouched, 0);
        multiply(&t, &a, &b, &more);
        hold_same(&t, &one, &more);
        free(more.data);
    }
    free(a.data);
    free(b.data);
    free(one.data);
    return kinds;
}

/* With few threads the panels of a or of b are private, with many those of both: no bit depends on that.
 * The shape alone decides it: a long k is for several KC and partial sums. */
static void test_threads_agree(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{110, 230, 4207}, {192, 1446, 97}, {1446, 192, 97},
                                       {330, 110, 1100}, {400, 430, 97},  {430, 400, 97},
                                       {512, 768, 70},   {210, 220, 70}};
    const int n_sizes = (int)(sizeof sizes / sizeof *sizes);
    const unsigned every_kind = kind_of(PRIVATE_A, true) | kind_of(PRIVATE_B, true) |
                                kind_of(PRIVATE_BOTH, false) | kind_of(PRIVATE_BOTH, true);
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        unsigned kinds = 0;
        for (int s = 0; s < (kernel->private_lines ? n_sizes : 1); s++) {
            Trial t = trial(kernel);
            t.m = sizes[s][0];
            t.n = sizes[s][1];
            t.k = sizes[s][2];
            kinds |= hold_threads(t);
        }
        if (kernel->private_lines && (kinds & every_kind) != every_kind)
            fail_msg("%s: not every kind of private panels is tested: %x", kernel->name, kinds);
    }
}

/* Every tile of the result is in one block, which has room for it. */
static void hold_cover(const GemmPlan *p, int threads)
{
    enum { MOST = 65536 };
    static uint8_t times[MOST];
    const int64_t mr = p->kernel->mr, nr = p->kernel->nr;
    const GemmBlocking blocking = gemm_blocking(p, threads);
    const int64_t across = i64_ceil_div(p->n, nr), tiles = across * i64_ceil_div(p->m, mr);
    assert_true(tiles <= MOST);
    memset(times, 0, sizeof times);
    for (int64_t i = 0; i < blocking.m_blocks * blocking.n_blocks; i++) {
        const GemmBlock at = gemm_blocking_block(p, &blocking, i);
        assert_true(at.row % mr == 0 && at.column % nr == 0);
        assert_true(at.rows <= blocking.mc && at.columns <= blocking.nc);
        assert_true(at.row + at.rows <= p->m && at.column + at.columns <= p->n);
        for (int64_t y = at.row; y < at.row + at.rows; y += mr) {
            for (int64_t x = at.column; x < at.column + at.columns; x += nr) {
                times[y / mr * across + x / nr]++;
            }
        }
    }
    for (int64_t i = 0; i < tiles; i++) {
        if (times[i] != 1)
            fail_msg("%s, %lld x %lld on %d threads: tile %lld is made %d times", p->kernel->name,
                     (long long)p->m, (long long)p->n, threads, (long long)i, times[i]);
    }
}

static void test_blocks_cover(void **state)
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

/* Where the part of the shared side begins that block i reads. */
static int64_t shared_part(const GemmPlan *p, const GemmBlocking *blocking, int64_t i)
{
    const GemmBlock at = gemm_blocking_block(p, blocking, i);
    return blocking->private_panels == PRIVATE_A ? at.column : at.row;
}

/* The last thread gets all blocks of its own part, then those of the next one. `most` becomes the
 * number of queues of each kind of private panels. */
static void hold_queues(const GemmPlan *p, int threads, int64_t most[PRIVATE_BOTH + 1])
{
    const GemmBlocking blocking = gemm_blocking(p, threads);
    GemmQueues queues = gemm_blocking_queues(&blocking);
    int64_t turn = 0, taken = 0, part = -1;
    assert_in_range(queues.n, 1, GEMM_MOST_QUEUES);
    for (int64_t i; (i = gemm_blocking_next(&queues, threads - 1, &turn)) >= 0; taken++) {
        const int64_t now = shared_part(p, &blocking, i);
        if (taken == 0) assert_int_equal(i, (threads - 1) % queues.n);
        if (queues.n > 1) assert_true(taken % queues.each ? now == part : now != part);
        part = now;
    }
    assert_int_equal(taken, blocking.m_blocks * blocking.n_blocks);
    if (queues.n > most[blocking.private_panels]) most[blocking.private_panels] = queues.n;
}

static void test_queues(void **state)
{
    (void)state;
    static const int sizes[] = {97, 512, 768, 2304, 6144, 20000};
    const int n = (int)(sizeof sizes / sizeof *sizes);
    int64_t most[PRIVATE_BOTH + 1] = {0};
    for (int j = 0; j < n * n; j++) {
        const GemmPlan p = {
            .kernel = plain_with_private_panels(), .m = sizes[j / n], .n = sizes[j % n], .k = 64};
        for (int threads = 1; threads <= 128; threads *= 2) hold_queues(&p, threads, most);
    }
    assert_true(most[PRIVATE_A] > 1 && most[PRIVATE_B] > 1);
    assert_int_equal(most[PRIVATE_BOTH], 1);
    const GemmBlocking blocking = {
        .private_panels = PRIVATE_B, .m_blocks = GEMM_MOST_QUEUES + 1, .n_blocks = 1};
    assert_int_equal(gemm_blocking_queues(&blocking).n, 1);
}

/* More queues than threads: each takes blocks of several. */
static void test_queues_of_others(void **state)
{
    (void)state;
    Trial t = trial(plain_with_private_panels());
    t.m = 2100;
    t.n = 2200;
    t.k = 2;
    const GemmPlan p = {.kernel = t.kernel, .m = t.m, .n = t.n, .k = t.k};
    for (t.threads = 1; t.threads <= 2; t.threads++) {
        const GemmBlocking blocking = gemm_blocking(&p, t.threads);
        assert_true(gemm_blocking_queues(&blocking).n > t.threads);
        try_one(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_agree),
        cmocka_unit_test(test_blocks_cover),
        cmocka_unit_test(test_queues),
        cmocka_unit_test(test_queues_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
