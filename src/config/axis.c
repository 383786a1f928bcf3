#include "base/array.h"
#include "base/human.h"
#include "base/parse.h"
#include "config/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Longer than any value; what does not fit is quoted in the message, not read. */
enum { PART = 4096 };

void axis_free(Axis *axis)
{
    for (int i = 0; i < axis->n; i++) free(axis->values[i].model);
    free(axis->values);
    *axis = (Axis){0};
}

void axis_note_same(SameModel *same, const ModelSpec *kept, const ModelSpec *left_out)
{
    if (*same->kept) return;
    memcpy(same->kept, kept->name, sizeof same->kept);
    memcpy(same->left_out, left_out->name, sizeof same->left_out);
}

/* Kept unless it is among the first `known` values. */
static Status push(Axis *axis, const OptionValue *value, int known)
{
    for (int i = 0; i < known; i++) {
        if (option_value_compare(&axis->values[i], value) != 0) continue;
        if (value->model) axis_note_same(&axis->same, axis->values[i].model, value->model);
        return ST_OK;
    }
    if (axis->n == SWEEP_MAX_VALUES) return FAIL(ST_USAGE, "more than %d values", SWEEP_MAX_VALUES);
    TRY(array_grow(&axis->values, (size_t)axis->n, 1, sizeof *axis->values));
    axis->values[axis->n++] = *value;
    return ST_OK;
}

typedef struct Range {
    int64_t first, last, step;
    char kind; /* '+' or '*' */
} Range;

/* FIRST-LAST, FIRST-LAST+STEP or FIRST-LAST*FACTOR; `s` is written into. All but a factor may
 * have the units of a size. */
static Status read_range(char *s, OptionId id, Range *range)
{
    Status (*const parse)(const char *, int64_t *) =
        option_table[id].kind == OPTION_KIND_SIZE ? parse_bytes : parse_int;
    char *dash = strchr(s, '-');
    char *sign = strpbrk(dash + 1, "+*");
    *dash = 0;
    *range = (Range){.step = 1, .kind = '+'};
    if (sign) {
        range->kind = *sign;
        *sign = 0;
        TRY((range->kind == '*' ? parse_int : parse)(sign + 1, &range->step));
    }
    TRY(parse(s, &range->first));
    TRY(parse(dash + 1, &range->last));
    if (range->first > range->last)
        return FAIL(ST_USAGE, "the range starts at %" PRId64 " and ends before it, at %" PRId64,
                    range->first, range->last);
    if (range->kind == '+' && range->step < 1) return FAIL(ST_USAGE, "the step must be at least 1");
    if (range->kind == '*' && (range->step < 2 || range->first < 1))
        return FAIL(ST_USAGE, "the factor must be at least 2 and the first value at least 1");
    return ST_OK;
}

static bool next(const Range *range, int64_t *x)
{
    const bool over = range->kind == '+' ? __builtin_add_overflow(*x, range->step, x)
                                         : __builtin_mul_overflow(*x, range->step, x);
    return !over && *x <= range->last;
}

static Status push_range(Axis *axis, OptionId id, const Range *range)
{
    const int known = axis->n; /* the values of a range differ from each other */
    int64_t x = range->first;
    do {
        const OptionValue value = {.number = x};
        TRY(option_value_check_integer(id, x));
        TRY(push(axis, &value, known));
    } while (next(range, &x));
    return ST_OK;
}

/* A minus that is not a sign makes a range. */
static bool is_range(OptionId id, const char *s)
{
    const OptionKind kind = option_table[id].kind;
    return (kind == OPTION_KIND_INT || kind == OPTION_KIND_SIZE) && *s && strchr(s + 1, '-') &&
           *s != '-';
}

static Status push_part(Axis *axis, OptionId id, char *part)
{
    Range range;
    OptionValue value;
    if (is_range(id, part)) {
        TRY(read_range(part, id, &range));
        return push_range(axis, id, &range);
    }
    TRY(option_value_read(id, part, &value));
    const int n = axis->n;
    const Status status = push(axis, &value, n);
    if (axis->n == n) free(value.model);
    return status;
}

static Status read_part(Axis *axis, OptionId id, const char *part, size_t n)
{
    char whole[PART], scratch[PART];
    if (n >= PART) return FAIL(ST_USAGE, "%s is too long", human_quote(part).s);
    memcpy(whole, part, n);
    whole[n] = 0;
    memcpy(scratch, whole, n + 1);
    const Status status = push_part(axis, id, scratch);
    if (status != ST_OK && is_range(id, whole)) status_context("%s", human_quote(whole).s);
    return status;
}

Status axis_read(Axis *axis, OptionId id, const char *s)
{
    Status status;
    for (const char *at = s;;) {
        const size_t n = strcspn(at, ",");
        status = n > 0 ? read_part(axis, id, at, n)
                       : FAIL(ST_USAGE, "a value is missing in %s", human_quote(s).s);
        if (status != ST_OK || at[n] == 0) break;
        at += n + 1;
    }
    if (status != ST_OK) status_context("--%s", option_table[id].name);
    return status;
}
