/* Batches of cuBLASLt against head_matrix_start(): every head of q once, each with its own matrices,
 * and sums that begin with a product that is not added. */
#include "ops/attention_cuda/bmm_batches.h"
#include "with_cmocka.h"

#include <stdlib.h>

/* B, H, heads of k and v, T, D: as before, groups of two and more, one head for all. */
static const int64_t shapes[][5] = {{1, 1, 1, 5, 4}, {3, 1, 1, 5, 4}, {2, 3, 3, 5, 4},
                                    {2, 4, 2, 7, 6}, {1, 6, 2, 3, 8}, {3, 6, 3, 2, 5},
                                    {2, 5, 1, 3, 2}, {1, 8, 1, 1, 1}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

typedef struct Operands {
    HeadMatrix c, a, b;
} Operands;

static HeadMatrix heads_of(const int64_t *s, int64_t heads, int64_t gap)
{
    const NodeAttr attr = {.heads = s[1], .tokens = s[3], .head_dim = s[4]};
    const Tensor t = {
        .dtype = DT_F32, .n_dims = 2, .dim = {s[0] * s[3], heads * s[4]}, .ld = heads * s[4] + gap};
    return head_matrix(&t, NULL, &attr);
}

static HeadMatrix scores_of(const int64_t *s)
{
    const NodeAttr attr = {.heads = s[1], .tokens = s[3], .head_dim = s[4]};
    const Tensor t = {.dtype = DT_F32, .n_dims = 4, .dim = {s[0], s[1], s[3], s[3]}, .ld = s[3]};
    return head_matrix(&t, NULL, &attr);
}

/* The products of attention and its gradient: q k^T and dout v^T, p v and ds k, p^T dout and ds^T q. */
enum Form { SCORES, VALUES, KEY_GRADIENT, FORMS };

static Operands operands_of(const int64_t *s, enum Form form, int64_t gap)
{
    const HeadMatrix scores = scores_of(s);
    const HeadMatrix q = heads_of(s, s[1], gap), k = heads_of(s, s[2], 2 * gap);
    if (form == SCORES) return (Operands){scores, q, k};
    if (form == VALUES) return (Operands){q, scores, k};
    return (Operands){k, scores, q};
}

/* Which head of q the matrices at these places belong to; -1: none. */
static int64_t find(const Operands *o, int64_t c, int64_t a, int64_t b)
{
    for (int64_t i = 0; i < o->c.count; i++) {
        if (head_matrix_start(&o->c, i) == c && head_matrix_start(&o->a, i) == a &&
            head_matrix_start(&o->b, i) == b)
            return i;
    }
    return -1;
}

static void hold(const Operands *o)
{
    const BmmBatches s = bmm_batches(&o->c, &o->a, &o->b);
    int *times = calloc((size_t)o->c.count, sizeof *times);
    int *written =
        calloc((size_t)o->c.count, sizeof *written); /* of matrices of c, by first head */
    assert_non_null(times);
    assert_non_null(written);
    for (int64_t i = 0; i < s.count * s.size; i++) {
        const int64_t batch = i / s.size, n = i % s.size;
        const HeadMatrix *m[3] = {&o->c, &o->a, &o->b};
        int64_t at[3];
        for (int k = 0; k < 3; k++) {
            at[k] = bmm_batches_start(&s, m[k], batch) + n * bmm_batches_step(&s, m[k]);
        }
        const int64_t head = find(o, at[0], at[1], at[2]);
        assert_true(head >= 0);
        times[head]++;
        const int64_t target = head / o->c.group * o->c.group;
        assert_int_equal(written[target] > 0, bmm_batches_adds(&s, batch));
        written[target]++;
    }
    for (int64_t i = 0; i < o->c.count; i++) assert_int_equal(times[i], 1);
    free(times);
    free(written);
}

static void test_every_head_once(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++) {
        for (int form = 0; form < FORMS; form++) {
            for (int64_t gap = 0; gap <= 8; gap += 4) {
                const Operands o = operands_of(shapes[i], (enum Form)form, gap);
                hold(&o);
            }
        }
    }
}

/* Without groups a sequence is one batch, and a single head makes one of all sequences. */
static void test_without_groups(void **state)
{
    (void)state;
    const Operands one = operands_of(shapes[1], SCORES, 0),
                   three = operands_of(shapes[2], SCORES, 0);
    const BmmBatches single = bmm_batches(&one.c, &one.a, &one.b);
    const BmmBatches heads = bmm_batches(&three.c, &three.a, &three.b);
    assert_int_equal(single.count, 1);
    assert_int_equal(single.size, 3);
    assert_int_equal(heads.count, 2);
    assert_int_equal(heads.size, 3);
    assert_false(heads.sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_head_once),
                                       cmocka_unit_test(test_without_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
