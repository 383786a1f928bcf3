#include "bench/record/record.h"

#include "base/escape.h"
#include "base/json_text.h"
#include "base/stats.h"
#include "config/cell_field.h"
#include "config/option_value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *record_status_word(RecordStatus status)
{
    static const char *const words[] = {
#define RECORD_STATUS(name, word) word,
#include "bench/record/record_statuses.def"
    };
    return words[status];
}

RecordStatus record_status_find(const char *word)
{
    int s = 0;
    while (s < RECORD_STATUS_COUNT && strcmp(word, record_status_word((RecordStatus)s)) != 0) s++;
    return (RecordStatus)s;
}

static RecordStatus status_of(const json_t *object)
{
    const char *word = json_string_value(json_object_get(object, "status"));
    return word ? record_status_find(word) : RECORD_STATUS_COUNT;
}

/* ---- dotted paths ---- */

json_t *record_value(const Record *r, const char *path)
{
    const json_t *at = r;
    for (;;) {
        const size_t n = strcspn(path, ".");
        char key[64];
        if (n >= sizeof key) return NULL;
        memcpy(key, path, n);
        key[n] = '\0';
        json_t *value = json_object_get(at, key);
        if (!value || path[n] == '\0') return value;
        at = value;
        path += n + 1;
    }
}

/* Steals `value`; makes the objects on the way. */
static Status put(Record *r, const char *path, json_t *value)
{
    if (!value) return NO_MEMORY("for a result");
    const char *dot = strchr(path, '.');
    if (!dot) return json_object_set_new(r, path, value) ? NO_MEMORY("for a result") : ST_OK;
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)(dot - path), path);
    json_t *child = json_object_get(r, key);
    if (!json_is_object(child)) {
        child = json_object();
        if (!child || json_object_set_new(r, key, child)) {
            json_decref(value);
            return NO_MEMORY("for a result");
        }
    }
    return put(child, dot + 1, value);
}

/* ---- setters ---- */

Status record_put_number(Record *r, const char *path, double value)
{
    return put(r, path, json_text_real(value));
}

Status record_put_int(Record *r, const char *path, int64_t value)
{
    return put(r, path, json_integer(value));
}

Status record_put_text(Record *r, const char *path, const char *text)
{
    return put(r, path, json_text_string(text));
}

Status record_put_null(Record *r, const char *path)
{
    return put(r, path, json_null());
}

Status record_put_status(Record *r, RecordStatus status, const char *message)
{
    TRY(record_put_text(r, "status", record_status_word(status)));
    return message ? record_put_text(r, "message", message) : record_put_null(r, "message");
}

Status record_warn(Record *r, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_t *list = json_object_get(r, "warnings");
    if (!json_is_array(list)) {
        list = json_array();
        TRY(put(r, "warnings", list));
    }
    for (size_t i = 0; i < json_array_size(list); i++) { /* rounds say the same */
        if (strcmp(json_string_value(json_array_get(list, i)), text) == 0) return ST_OK;
    }
    json_t *value = json_text_string(text);
    return !value || json_array_append_new(list, value) ? NO_MEMORY("for a result") : ST_OK;
}

/* ---- phases ---- */

static json_t *ms(double seconds)
{
    return json_text_real(seconds * 1e3);
}

Status record_put_samples(Record *r, const char *phase, const double *seconds, int n)
{
    if (n < 1) return FAIL(ST_FAILED, "no samples of phase %s", phase);
    const StatsSummary s = stats_summary(seconds, n);
    if (!isfinite(s.mean) || s.min < 0)
        return FAIL(ST_FAILED, "a sample of phase %s is no time", phase);
    return put(r, phase,
               json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "status",
                         record_status_word(RECORD_OK), "mean_ms", ms(s.mean), "std_ms", ms(s.std),
                         "min_ms", ms(s.min), "max_ms", ms(s.max), "median_ms", ms(s.median),
                         "median_low_ms", ms(s.median_low), "median_high_ms", ms(s.median_high),
                         "ci95_low_ms", ms(s.ci95_low), "ci95_high_ms", ms(s.ci95_high),
                         "samples_ms", json_text_reals(seconds, n, 1e3)));
}

Status record_put_phase(Record *r, const char *phase, RecordStatus status, const char *message)
{
    json_t *value = json_object();
    TRY(put(r, phase, value));
    return record_put_status(value, status, message);
}

/* ---- getters ---- */

bool record_number(const Record *r, const char *path, double *out)
{
    const json_t *value = record_value(r, path);
    if (!json_is_number(value)) return false;
    *out = json_number_value(value);
    return true;
}

double record_real(const Record *r, const char *path)
{
    double x = NAN;
    record_number(r, path, &x);
    return x;
}

bool record_int(const Record *r, const char *path, int64_t *out)
{
    const json_t *value = record_value(r, path);
    if (!json_is_integer(value)) return false;
    *out = json_integer_value(value);
    return true;
}

const char *record_text(const Record *r, const char *path)
{
    return json_string_value(record_value(r, path));
}

RecordStatus record_status(const Record *r)
{
    const RecordStatus status = status_of(r);
    return status == RECORD_STATUS_COUNT ? RECORD_FAILED : status;
}

RecordStatus record_phase_status(const Record *r, const char *phase)
{
    return status_of(json_object_get(r, phase));
}

/* ---- identity: what was asked for is in record_key.c ---- */

const char *record_key(const Record *r)
{
    return record_text(r, "cell");
}

bool record_asked(const Record *r, const char *field, char *text, size_t size)
{
    RecordKeyPart part = {record_key(r), 0, 0};
    while (part.text && record_key_next(&part)) {
        if (!record_key_names(&part, field) || part.name == part.length) continue;
        snprintf(text, size, "%.*s", (int)(part.length - part.name - 1), part.text + part.name + 1);
        escape_trim(text);
        return true;
    }
    return false;
}

Status record_put_field(Record *r, int id, const Config *config)
{
    const char *name = cell_field_table[id].name;
    const OptionValue value = option_value_load((OptionId)id, config);
    switch (option_table[id].kind) {
    case OPTION_KIND_INT:
    case OPTION_KIND_SIZE: /* what came later is left out at 0, as from keys */
        if (cell_field_table[id].key >= CELL_KEY_LATER && value.number == 0) return ST_OK;
        return record_put_int(r, name, value.number);
    case OPTION_KIND_REAL:
        return record_put_number(r, name, value.real);
    case OPTION_KIND_MODEL: /* a preset has none */
        return *value.word ? record_put_text(r, name, value.word) : ST_OK;
    case OPTION_KIND_BYTES:
        return value.number ? record_put_number(r, name, (double)value.number / (1024.0 * 1024.0))
                            : record_put_null(r, name);
    default:
        return record_put_text(r, name, option_value_text((OptionId)id, config).s);
    }
}

Status record_put_model(Record *r, const ModelSpec *model)
{
    if (!model_spec_is_file(model)) return ST_OK;
    TRY(record_put_int(r, "kv_heads", model_spec_kv_heads(model)));
    if (model_spec_has_window(model)) TRY(record_put_int(r, "window", model->window));
    if (model->head_dim > 0 && model->head_dim * model->num_heads != model->d_model)
        TRY(record_put_int(r, "head_dim", model->head_dim));
    return model->dropout ? record_put_int(r, "dropout", 0) : ST_OK;
}

/* How ranks share a step says nothing of one alone. */
static bool is_of_one_rank(int id, const Config *c)
{
    return cell_field_table[id].part == CELL_PART_RANKS && c->subject == SUBJECT_MODEL &&
           c->ranks <= 1;
}

static Status put_config(Record *r, const Config *c)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(c, key);
    TRY(record_put_text(r, "cell", key));
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (cell_field_table[id].name && cell_field_applies(id, c) && !is_of_one_rank(id, c))
            TRY(record_put_field(r, id, c));
    }
    if (c->subject == SUBJECT_MODEL) {
        TRY(record_put_model(r, &c->model));
        TRY(record_put_null(r, "parameters"));
    }
    return record_put_status(r, RECORD_FAILED, NULL);
}

Status record_new(Record **out, const Config *config)
{
    *out = NULL;
    CLEANUP(json_text_free) Record *r = json_object();
    if (!r) return NO_MEMORY("for a result");
    TRY(put_config(r, config));
    *out = json_incref(r);
    return ST_OK;
}

/* ---- text ---- */

char *record_dump(const Record *r)
{
    return json_dumps(r, JSON_COMPACT | JSON_REAL_PRECISION(15));
}
