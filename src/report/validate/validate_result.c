#include "base/json_text.h"
#include "bench/measure/sample.h"
#include "bench/record/profile_check.h"
#include "bench/record/record_file.h"
#include "report/validate/validate.h"

#include <math.h>
#include <stdio.h>

static const double tolerance = 1e-6; /* of the mean: files are written with 15 digits */

static Status read_samples(const json_t *list, SampleList *seconds)
{
    size_t i;
    const json_t *value;
    json_array_foreach(list, i, value)
        TRY(sample_list_add(seconds, json_number_value(value) / 1e3));
    return ST_OK;
}

/* `right` is the phase recomputed from its samples. A figure that the file omits is not wrong. */
static Status compare_phase(const Record *record, const Record *right, const char *phase)
{
    const char *name;
    json_t *value;
    double mean = 0;
    record_number(json_object_get(right, phase), "mean_ms", &mean);
    json_object_foreach(json_object_get(right, phase), name, value)
    {
        double found;
        const json_t *has = json_object_get(record, phase);
        if (!json_is_number(value) || !record_number(has, name, &found)) continue;
        if (fabs(found - json_number_value(value)) <= tolerance * mean) continue;
        return FAIL(ST_FAILED, "%s.%s is %.9g, but %.9g by its samples", phase, name, found,
                    json_number_value(value));
    }
    return ST_OK;
}

static Status check_phase(const Record *record, const char *phase)
{
    const json_t *list = json_object_get(json_object_get(record, phase), "samples_ms");
    if (json_array_size(list) == 0) return ST_OK;
    CLEANUP(sample_list_free) SampleList seconds = {0};
    CLEANUP(json_text_free) Record *right = json_object();
    TRY(read_samples(list, &seconds));
    TRY(record_put_samples(right, phase, seconds.seconds, seconds.n));
    return compare_phase(record, right, phase);
}

static Status check_record(const Record *record, int *profiles)
{
    for (int s = 0; s < SAMPLE_WALL_COUNT; s++)
        TRY(check_phase(record, sample_series_name((SampleSeries)s)));
    if (!json_is_object(json_object_get(record, "profile"))) return ST_OK;
    CLEANUP(profile_view_free) ProfileView view = {0};
    TRY(profile_view_make(&view, record));
    ++*profiles;
    return profile_check(&view);
}

Status validate_result(const Text *text, const char *path, ValidateNote *note)
{
    CLEANUP(record_set_free) RecordSet set = {0};
    bool torn = false;
    int profiles = 0;
    TRY(record_set_init(&set, NULL));
    TRY(record_file_parse(&set, text_str(text), text->n, path, &torn));
    if (torn) return FAIL(ST_FAILED, "its last line is cut short");
    for (size_t i = 0; i < record_set_size(&set); i++)
        TRY(check_record(record_set_at(&set, i), &profiles));
    snprintf(note->s, sizeof note->s, "results, %zu rows, %d with a profile", record_set_size(&set),
             profiles);
    return ST_OK;
}
