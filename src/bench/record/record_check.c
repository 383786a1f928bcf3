#include "bench/record/record_check.h"

#include "bench/record/phase_fields.h"
#include "config/cell_field.h"
#include "config/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum Kind { TEXT, COUNT, WHOLE, INT, NUMBER, REAL, STATUS, PHASE, TEXTS, NUMBERS } Kind;
typedef enum Need {
    MAYBE = CELL_NEED_MAYBE,
    ALWAYS = CELL_NEED_ALWAYS,
    MODEL = CELL_NEED_MODEL,
    MEASURED
} Need;

typedef struct Field {
    const char *name;
    Kind kind;
    Need need;
} Field;

static const Field fields[] = {
#define FIELD(name, kind, need) {#name, kind, need},
#define CELL_FIELDS(group)
#include "bench/record/fields.def"
};

static const Field collective_fields[] = {
#define FIELD(name, kind) {#name, kind, MAYBE},
#include "bench/record/collective_fields.def"
};

#define FIELD(phase, name, kind, need) {#name, kind, need},
static const Field phase_fields[] = {PHASE_FIELDS(FIELD, any)};
#undef FIELD

static const char *const kind_words[] = {
    [TEXT] = "a text",
    [COUNT] = "a whole number above 0",
    [WHOLE] = "a whole number, 0 or more",
    [INT] = "a whole number",
    [NUMBER] = "a number, 0 or more",
    [REAL] = "a number",
    [STATUS] = "one of ok, oom, unsupported, timeout, killed, failed",
    [PHASE] = "an object",
    [TEXTS] = "an array of texts",
    [NUMBERS] = "an array of numbers, each 0 or more",
};

static bool is_ok(const json_t *object)
{
    return record_status(object) == RECORD_OK;
}

static bool fits(const json_t *value, Kind kind);

static bool all_fit(const json_t *array, Kind kind)
{
    if (!json_is_array(array)) return false;
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (!fits(json_array_get(array, i), kind)) return false;
    }
    return true;
}

static bool fits(const json_t *value, Kind kind)
{
    switch (kind) {
    case TEXT:
        return json_is_string(value);
    case COUNT:
        return json_is_integer(value) && json_integer_value(value) > 0;
    case WHOLE:
        return json_is_integer(value) && json_integer_value(value) >= 0;
    case INT:
        return json_is_integer(value);
    case NUMBER:
        return json_is_number(value) && json_number_value(value) >= 0;
    case REAL:
        return json_is_number(value);
    case STATUS:
        return json_is_string(value) &&
               record_status_find(json_string_value(value)) != RECORD_STATUS_COUNT;
    case PHASE:
        return json_is_object(value);
    case TEXTS:
        return all_fit(value, TEXT);
    case NUMBERS:
        return all_fit(value, NUMBER);
    }
    return false;
}

static bool needed(const json_t *object, Need need)
{
    const bool model = !json_object_get(object, "d_head") && !json_object_get(object, "op");
    return need == ALWAYS || (need == MODEL && model) || (need == MEASURED && is_ok(object));
}

/* `phase` is "" or "forward." and the like. */
static Status check_field(const json_t *object, const Field *field, const char *phase)
{
    const json_t *value = json_object_get(object, field->name);
    const bool must = needed(object, field->need);
    if (!value && must) return FAIL(ST_USAGE, "'%s%s' is missing", phase, field->name);
    if (!value || (json_is_null(value) && !must) || fits(value, field->kind)) return ST_OK;
    return FAIL(ST_USAGE, "'%s%s' must be %s", phase, field->name, kind_words[field->kind]);
}

static Kind kind_of(const Option *option)
{
    switch (option->kind) {
    case OPTION_KIND_INT:
    case OPTION_KIND_SIZE:
        return option->min > 0 ? COUNT : WHOLE;
    case OPTION_KIND_REAL:
    case OPTION_KIND_BYTES:
        return NUMBER;
    default:
        return TEXT;
    }
}

static Status check_cell(const json_t *object)
{
    const bool collective = json_object_get(object, "op") != NULL;
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        const CellField *cell = &cell_field_table[id];
        const Field field = {cell->name, kind_of(&option_table[id]), (Need)cell->need};
        if (!cell->name || (collective && !cell_field_of(id, SUBJECT_COLLECTIVE))) continue;
        TRY(check_field(object, &field, ""));
    }
    for (size_t i = 0; collective && i < sizeof collective_fields / sizeof *collective_fields; i++)
        TRY(check_field(object, &collective_fields[i], ""));
    return ST_OK;
}

static Status check_phase(const json_t *phase, const char *name)
{
    char prefix[32];
    snprintf(prefix, sizeof prefix, "%s.", name);
    for (size_t i = 0; i < sizeof phase_fields / sizeof *phase_fields; i++)
        TRY(check_field(phase, &phase_fields[i], prefix));
    return ST_OK;
}

/* Files hold 15 digits of a number: more than this is rounded up beyond what a double can be. */
static const double largest = 1.79769313486231e308;

static bool are_written(json_t *value)
{
    const char *name;
    json_t *part;
    size_t i;
    if (json_is_real(value)) return fabs(json_real_value(value)) <= largest;
    json_object_foreach(value, name, part)
    {
        if (!are_written(part)) return false;
    }
    json_array_foreach(value, i, part)
    {
        if (!are_written(part)) return false;
    }
    return true;
}

Status record_check_numbers(json_t *value)
{
    if (are_written(value)) return ST_OK;
    return FAIL(ST_USAGE, "a number is above %.15g, which no measurement is", largest);
}

Status record_check(json_t *value)
{
    if (!json_is_object(value)) return FAIL(ST_USAGE, "a result must be an object");
    TRY(check_cell(value));
    bool measured = false;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const json_t *phase = json_object_get(value, fields[i].name);
        TRY(check_field(value, &fields[i], ""));
        if (fields[i].kind != PHASE || !json_is_object(phase)) continue;
        TRY(check_phase(phase, fields[i].name));
        measured = measured || is_ok(phase);
    }
    if (is_ok(value) && !measured && !json_object_get(value, "emulated") &&
        !json_object_get(value, "curve"))
        return FAIL(ST_USAGE, "'status' is ok but no phase was measured");
    return record_check_numbers(value);
}
