#include "cli/commands/compare_input.h"

#include "base/array.h"
#include "base/gzip_file.h"
#include "base/human.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "base/log.h"
#include "bench/record/record_file.h"
#include "bench/record/repeated_starts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- one file ---- */

static Status read_text(Text *text, const char *path)
{
    const Status status = gzip_file_read(text, path, (size_t)1 << 30);
    return status == ST_IO ? ST_USAGE : status; /* nothing was done yet */
}

static Status add_records(CompareInput *input, const char *path, const Text *text)
{
    bool torn = false;
    CLEANUP(record_set_free) RecordSet rows = {0};
    TRY(record_set_init(&rows, NULL));
    TRY(record_file_parse(&rows, text_str(text), text->n, path, &torn));
    if (torn) log_warning("%s: ignoring its truncated last line", path);
    input->files++;
    return record_set_merge(&input->rows, &rows);
}

/* limits.json, memory.json and others beside results: an object of another kind. */
static Status is_of_another_kind(bool *other, const char *path, const Text *text)
{
    CLEANUP(json_text_free) json_t *root = NULL;
    TRY(json_reader_parse(&root, path, text_str(text), text->n, 0, NULL));
    *other = json_is_object(root) && !json_object_get(root, "results") &&
             !json_object_get(root, "environment_id") &&
             !json_is_string(json_object_get(root, "id"));
    return ST_OK;
}

static Status read_file(CompareInput *input, const char *path, bool in_folder)
{
    bool other = false;
    CLEANUP(text_free) Text text = {0};
    TRY(read_text(&text, path));
    if (in_folder) TRY(is_of_another_kind(&other, path, &text));
    return other ? ST_OK : add_records(input, path, &text);
}

/* ---- a folder ---- */

typedef struct Names {
    char **list;
    size_t n;
} Names;

static void free_names(Names *names)
{
    for (size_t i = 0; i < names->n; i++) free(names->list[i]);
    free(names->list);
}

static int in_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_candidate(const char *name)
{
    static const char *const endings[] = {".json", ".jsonl", ".json.gz", ".jsonl.gz"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (name[0] != '.' && text_ends_with(name, endings[i])) return true;
    }
    return false;
}

static Status add_name(Names *names, const char *folder, const char *name)
{
    if (!is_candidate(name)) return ST_OK;
    Text path = {0};
    text_printf(&path, "%s%s%s", folder, text_ends_with(folder, "/") ? "" : "/", name);
    Status status = text_status(&path);
    if (status == ST_OK) status = array_grow(&names->list, names->n, 1, sizeof *names->list);
    if (status == ST_OK)
        names->list[names->n++] = path.data;
    else
        text_free(&path);
    return status;
}

static Status list_folder(Names *names, const char *folder)
{
    const struct dirent *entry;
    Status status = ST_OK;
    DIR *dir = opendir(folder);
    if (!dir) return FAIL(ST_USAGE, "cannot read %s: %s", folder, strerror(errno));
    while (status == ST_OK && (entry = readdir(dir)))
        status = add_name(names, folder, entry->d_name);
    closedir(dir);
    if (names->n > 1) qsort(names->list, names->n, sizeof *names->list, in_order);
    return status;
}

static Status read_folder(CompareInput *input, const char *folder)
{
    CLEANUP(free_names) Names names = {0};
    const int before = input->files;
    TRY(list_folder(&names, folder));
    for (size_t i = 0; i < names.n; i++) TRY(read_file(input, names.list[i], true));
    if (input->files > before) return ST_OK;
    return FAIL(ST_USAGE,
                "%s has no result file: expected files that --out FILE.json or FILE.jsonl wrote",
                folder);
}

/* ---- one side ---- */

/* Rows of one file stay as they are: there the last of a key counts. */
static Status join(CompareInput *input)
{
    RecordSet joined;
    input->starts = 1;
    if (input->files < 2) return ST_OK;
    TRY(record_set_init(&joined, NULL));
    const Status status = repeated_starts_join(&joined, &input->rows, &input->starts);
    record_set_free(&input->rows);
    input->rows = joined;
    return status;
}

Status compare_input_read(CompareInput *input, const char *const *paths, int n)
{
    struct stat info;
    *input = (CompareInput){.path = paths[0]};
    TRY(record_set_init(&input->rows, NULL));
    for (int i = 0; i < n; i++) {
        const bool folder = stat(paths[i], &info) == 0 && S_ISDIR(info.st_mode);
        TRY(folder ? read_folder(input, paths[i]) : read_file(input, paths[i], false));
    }
    return join(input);
}

void compare_input_free(CompareInput *input)
{
    record_set_free(&input->rows);
}
