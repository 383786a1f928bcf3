#include "config/axis.h"

#include "base/human.h"
#include "base/parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Longer than any value; what does not fit is quoted in the message, not read. */
enum { PART = 256 };

void axis_free(Axis *axis)
{
    free(axis->values);
    *axis = (Axis){0};
}

static Status push(Axis *axis, OptionId id, const OptionValue *value)
{
    for (int i = 0; i < axis->n; i++) {
        if (option_equal(id, &axis->values[i], value)) return ST_OK;
    }
    if (axis->n == AXIS_MAX_VALUES)
        return FAIL(ST_USAGE, "--%s: more than %d values", option_table[id].name, AXIS_MAX_VALUES);
    if (axis->n == axis->capacity) {
        const int capacity = axis->capacity ? 2 * axis->capacity : 8;
        OptionValue *values = realloc(axis->values, (size_t)capacity * sizeof *values);
        if (!values) return FAIL(ST_NO_MEMORY, "no memory for %d values", capacity);
        axis->values = values;
        axis->capacity = capacity;
    }
    axis->values[axis->n++] = *value;
    return ST_OK;
}

typedef struct Range {
    int64_t first, last, step;
    char kind; /* '+' or '*' */
} Range;

/* FIRST-LAST, FIRST-LAST+STEP or FIRST-LAST*FACTOR; `s` is written into. */
static Status read_range(char *s, Range *range)
{
    char *dash = strchr(s, '-');
    char *sign = strpbrk(dash + 1, "+*");
    *dash = 0;
    *range = (Range){.step = 1, .kind = '+'};
    if (sign) {
        range->kind = *sign;
        *sign = 0;
        TRY(parse_int(sign + 1, &range->step));
    }
    TRY(parse_int(s, &range->first));
    TRY(parse_int(dash + 1, &range->last));
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
    int64_t x = range->first;
    do {
        const OptionValue value = {.number = x};
        TRY(option_check_number(id, (double)x));
        TRY(push(axis, id, &value));
    } while (next(range, &x));
    return ST_OK;
}

/* A minus that is not a sign makes a range. */
static bool is_range(OptionId id, const char *s)
{
    return option_table[id].kind == OPTION_KIND_INT && *s && strchr(s + 1, '-') && *s != '-';
}

static Status read_part(Axis *axis, OptionId id, char *part)
{
    OptionValue value;
    Range range;
    char whole[PART];
    if (!is_range(id, part)) {
        TRY(option_read(id, part, &value));
        return push(axis, id, &value);
    }
    memcpy(whole, part, PART);
    Status status = read_range(part, &range);
    if (status == ST_OK) status = push_range(axis, id, &range);
    if (status != ST_OK) status_context("--%s %s", option_table[id].name, human_quote(whole).s);
    return status;
}

Status axis_read(Axis *axis, OptionId id, const char *s)
{
    char part[PART];
    for (const char *at = s;;) {
        const size_t n = strcspn(at, ",");
        if (n == 0)
            return FAIL(ST_USAGE, "--%s: a value is missing in %s", option_table[id].name,
                        human_quote(s).s);
        if (n >= sizeof part)
            return FAIL(ST_USAGE, "--%s: %s is too long", option_table[id].name, human_quote(at).s);
        memset(part, 0, sizeof part);
        memcpy(part, at, n);
        TRY(read_part(axis, id, part));
        if (at[n] == 0) return ST_OK;
        at += n + 1;
    }
}
