/* Where fp8 pays: the linear layers of a step in bf16 beside the same in fp8 with what quantizing costs. */
#include "base/human.h"
#include "ops/fp8/quantize.h"
#include "report/profile/profile_cells.h"
#include "report/records/same_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of all layers and phases of one step, in ns. */
typedef struct Linear {
    const char *scope; /* NULL: all of them */
    double bf16, fp8;  /* products */
    double casts;      /* of activations and gradients, which grow with the tokens */
    double weights;    /* casts of weights, which do not */
} Linear;

typedef struct Linears {
    Linear *list;
    int n;
} Linears;

/* ---- pairs of rows ---- */

static bool is_in(const Record *record, const char *precision)
{
    const char *own = record_text(record, "precision");
    return own && strcmp(own, precision) == 0 && !profile_cells_failed(record);
}

/* The row in bf16 of the same work as this one in fp8. NULL: there is none. */
static Status find_bf16(const Record **found, const RecordSet *set, const Record *fp8)
{
    static const char *const but[] = {"precision", "fp8_recipe", "fp8_layers", "attention", "blas"};
    CLEANUP(text_free) Text work = {0};
    CLEANUP(text_free) Text other = {0};
    *found = NULL;
    same_work_put(&work, fp8, but, sizeof but / sizeof *but);
    for (size_t i = 0; i < record_set_size(set) && !*found; i++) {
        const Record *record = record_set_at(set, i);
        if (!is_in(record, "bf16")) continue;
        text_clear(&other);
        same_work_put(&other, record, but, sizeof but / sizeof *but);
        if (strcmp(text_str(&work), text_str(&other)) == 0) *found = record;
    }
    if (work.failed || other.failed) return NO_MEMORY("for a pair of profiles");
    return ST_OK;
}

/* ---- sums ---- */

static Linear *find_linear(const Linears *l, const char *scope)
{
    for (int i = 0; i < l->n; i++) {
        if (strcmp(l->list[i].scope, scope) == 0) return &l->list[i];
    }
    return NULL;
}

/* Those with a product of 8-bit operands, in the order of the forward pass. */
static Status list_linears(Linears *l, const ProfileView *fp8)
{
    l->list = calloc((size_t)fp8->n_ops + 1, sizeof *l->list);
    if (!l->list) return NO_MEMORY("for %d ops", fp8->n_ops);
    for (int i = 0; i < fp8->n_ops; i++) {
        const ViewOp *op = &fp8->ops[i];
        if (strcmp(op->op, "scaled_matmul") == 0 && !find_linear(l, op->scope))
            l->list[l->n++].scope = op->scope;
    }
    return ST_OK;
}

static void add_op(const Linears *l, const ProfileView *view, const ViewOp *op, bool in_fp8)
{
    Linear *linear = find_linear(l, op->scope);
    const double time = op->time.total / (double)view->steps;
    if (!linear) return;
    if (op->category == CATEGORY_matmul)
        *(in_fp8 ? &linear->fp8 : &linear->bf16) += time;
    else if (op->operands && strcmp(op->operands, quantize_class_name(QUANTIZE_WEIGHTS)) == 0)
        linear->weights += time;
    else if (op->operands)
        linear->casts += time;
}

static Linear sum_of(const Linears *l)
{
    Linear sum = {0};
    for (int i = 0; i < l->n; i++) {
        sum.bf16 += l->list[i].bf16;
        sum.fp8 += l->list[i].fp8;
        sum.casts += l->list[i].casts;
        sum.weights += l->list[i].weights;
    }
    return sum;
}

/* Casts that have no node of their own (model/transform_fp8_fuse.c). */
static bool makes_in_8_bits(const ProfileView *fp8)
{
    for (int i = 0; i < fp8->n_ops; i++) {
        if (strcmp(fp8->ops[i].op, plan_op_name(OP_swiglu_fp8)) == 0) return true;
    }
    return false;
}

/* ---- the table ---- */

static double gain_of(const Linear *l)
{
    return l->bf16 - l->fp8 - l->casts - l->weights;
}

/* Where what each token gains has paid for the casts of the weights, were all else in proportion to the
 * tokens; INFINITY: nowhere. */
static double even_at(const Linear *l, double tokens)
{
    static const double most = 1e12;
    const double gained = l->bf16 - l->fp8 - l->casts, even = tokens * l->weights / gained;
    return gained > 0 && even < most ? even : INFINITY;
}

static void put_row(Table *table, const Linear *l, double tokens)
{
    const double even = even_at(l, tokens);
    TABLE_CELLS(table, l->scope ? l->scope : "all of them", human_ms(l->bf16).s, human_ms(l->fp8).s,
                human_ms(l->casts).s, human_ms(l->weights).s, human_ms(gain_of(l)).s,
                human_number(l->bf16 > 0 ? 100 * gain_of(l) / l->bf16 : NAN, 3).s,
                isinf(even) ? "never" : human_count((int64_t)ceil(even)).s);
}

/* Of a micro-batch, or of the step. */
static double tokens_of(const Record *record, bool of_step)
{
    int64_t ctx = 1, batch = 1, micro_batches = 1;
    record_int(record, "ctx", &ctx);
    record_int(record, "batch", &batch);
    if (of_step) record_int(record, "accumulate", &micro_batches);
    return (double)ctx * (double)batch * (double)micro_batches;
}

static void put_verdict(Table *table, const Record *fp8, const ProfileView *a, const ProfileView *b)
{
    const double before = profile_view_middle(a, &a->step),
                 after = profile_view_middle(b, &b->step);
    const char *recipe = record_text(fp8, "fp8_recipe");
    table_note_printf(table,
                      "fp8 (%s) %s for this step of %s tokens: %s ms in bf16, %s in fp8, %s times "
                      "as fast",
                      recipe ? recipe : "current", after < before ? "pays" : "does not pay",
                      human_count((int64_t)tokens_of(fp8, true)).s, human_ms(before).s,
                      human_ms(after).s, human_number(before / after, 3).s);
}

static Status write_pair(Text *out, const ProfileTables *how, const Record *bf16, const Record *fp8)
{
    CLEANUP(profile_view_free) ProfileView a = {0};
    CLEANUP(profile_view_free) ProfileView b = {0};
    CLEANUP(table_free) Table table = {0};
    Linears l = {0};
    TRY(profile_view_make(&a, bf16));
    TRY(profile_view_make(&b, fp8));
    TRY(list_linears(&l, &b));
    for (int i = 0; i < a.n_ops; i++) add_op(&l, &a, &a.ops[i], false);
    for (int i = 0; i < b.n_ops; i++) add_op(&l, &b, &b.ops[i], true);
    table.title = "Which linear layers gain from fp8";
    TABLE_COLUMNS(&table, 1, "linear", "bf16 (ms)", "fp8 (ms)", "casts (ms)", "of weights (ms)",
                  "gain (ms)", "gain (%)", "pays from (tokens)");
    for (int i = 0; i < l.n; i++) put_row(&table, &l.list[i], tokens_of(fp8, false));
    const Linear sum = sum_of(&l);
    if (l.n > 1) put_row(&table, &sum, tokens_of(fp8, false));
    put_verdict(&table, fp8, &a, &b);
    table_note(&table, "of one step, forward and both gradients, all layers; casts: of activations "
                       "and gradients; pays from: the tokens of a micro-batch, were all but the "
                       "casts of weights in proportion to them");
    if (makes_in_8_bits(&b))
        table_note(&table, "SwiGLU and its gradient quantize what they make: that is in their "
                           "time, and no cast here");
    const Status status = l.n > 0 ? table_write_next(out, how->format, &table) : ST_OK;
    free(l.list);
    return status;
}

Status profile_fp8_table_write(Text *out, const ProfileTables *how, const RecordSet *set)
{
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *fp8 = record_set_at(set, i), *bf16 = NULL;
        if (!is_in(fp8, "fp8")) continue;
        TRY(find_bf16(&bf16, set, fp8));
        if (bf16) TRY(write_pair(out, how, bf16, fp8));
    }
    return ST_OK;
}
