#include "bench/profile_view.h"
#include "bench/record_file.h"
#include "report/validate.h"

#include <stdio.h>

static Status check_profile(const Record *record)
{
    ProfileView view;
    TRY(profile_view_make(&view, record));
    const Status status = profile_view_check(&view);
    profile_view_free(&view);
    return status;
}

static Status check_profiles(const RecordSet *set, int *n)
{
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *record = record_set_at(set, i);
        if (!json_is_object(json_object_get(record, "profile"))) continue;
        TRY(check_profile(record));
        (*n)++;
    }
    return ST_OK;
}

Status validate_result(const Text *text, const char *path, ValidateNote *note)
{
    RecordSet set;
    bool torn = false;
    int profiles = 0;
    TRY(record_set_init(&set, NULL));
    Status status = record_file_parse(&set, text_str(text), text->n, path, &torn);
    if (status == ST_OK && torn) status = FAIL(ST_FAILED, "its last line is cut short");
    if (status == ST_OK) status = check_profiles(&set, &profiles);
    snprintf(note->s, sizeof note->s, "results, %zu rows, %d with a profile", record_set_size(&set),
             profiles);
    record_set_free(&set);
    return status;
}
