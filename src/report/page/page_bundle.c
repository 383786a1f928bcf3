#include "report/page/page_bundle.h"

#include "base/array.h"
#include "base/gzip_file.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "config/settings.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static Status add(PageBundle *bundle, const char *path, const Text *text)
{
    TRY(array_grow(&bundle->files, (size_t)bundle->n, 1, sizeof *bundle->files));
    return result_input_parse(&bundle->files[bundle->n++], path, text);
}

static Status add_held(PageBundle *bundle, const char *path, const json_t *file)
{
    CLEANUP(text_free) Text text = {0};
    json_text_put(&text, file, JSON_COMPACT | JSON_REAL_PRECISION(15));
    TRY(text_status(&text));
    return add(bundle, path, &text);
}

/* ---- rows that came after the suite, by bench --resume ---- */

static bool is_held(const PageBundle *bundle, int first, const Record *record)
{
    const char *key = record_key(record);
    bool held = !key;
    for (int i = first; i < bundle->n && !held; i++)
        held = record_set_find(&bundle->files[i].rows, key) != NULL;
    return held;
}

static Status add_rows(PageBundle *bundle, const char *path, const json_t *root, json_t *rows)
{
    static const char *const of_the_suite[] = {"files", "missing", "like", "growth"};
    CLEANUP(json_text_free) json_t *file = json_copy((json_t *)root);
    for (size_t i = 0; i < sizeof of_the_suite / sizeof *of_the_suite; i++)
        json_object_del(file, of_the_suite[i]);
    const bool made = json_object_set(file, "results", rows) == 0;
    return made ? add_held(bundle, path, file) : NO_MEMORY("for %s", path);
}

/* `first` is the first of the files that the suite holds. */
static Status add_later_rows(PageBundle *bundle, int first, const char *path, const json_t *root)
{
    CLEANUP(json_text_free) json_t *rows = json_array();
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(root, "results"), i, row)
    {
        if (!is_held(bundle, first, row) && json_array_append(rows, row))
            return NO_MEMORY("for %s", path);
    }
    return json_array_size(rows) > 0 ? add_rows(bundle, path, root, rows) : ST_OK;
}

static Status read_suite(PageBundle *bundle, const char *path, json_t *root, json_t *files)
{
    const int first = bundle->n;
    const char *name;
    json_t *file;
    if (json_array_append(bundle->held, root)) return NO_MEMORY("for %s", path);
    json_object_foreach(files, name, file)
    {
        if (!json_is_object(file))
            return FAIL(ST_USAGE,
                        "%s: '%s' in 'files' must be an object, as a suite writes it; remove it or "
                        "'files'",
                        path, name);
        TRY(add_held(bundle, name, file));
    }
    return add_later_rows(bundle, first, path, root);
}

static Status add_gaps(PageBundle *bundle, const char *path, json_t *missing)
{
    size_t i;
    json_t *gap;
    json_array_foreach(missing, i, gap)
    {
        if (!record_text(gap, "part") || !record_text(gap, "command") || !record_text(gap, "why"))
            return FAIL(ST_USAGE, "%s: 'missing' must have texts 'part', 'command' and 'why'",
                        path);
        if (json_array_append(bundle->gaps, gap)) return NO_MEMORY("for %s", path);
    }
    return ST_OK;
}

/* Takes `root` over; the file's own reader makes a tree again, and two at once would be twice the
 * memory. */
static Status read_text(PageBundle *bundle, const char *path, const Text *text, json_t *root)
{
    json_t *files = json_object_get(root, "files");
    CLEANUP(json_text_free) json_t *missing = json_incref(json_object_get(root, "missing"));
    const bool is_suite = json_is_object(files);
    Status status = is_suite ? read_suite(bundle, path, root, files) : ST_OK;
    json_decref(root);
    if (!is_suite) status = add(bundle, path, text);
    if (status == ST_OK) status = add_gaps(bundle, path, missing);
    return status;
}

static Status read_path(PageBundle *bundle, const char *path)
{
    CLEANUP(text_free) Text text = {0};
    json_t *root = NULL;
    const Status status = gzip_file_read(&text, path, PACKED_FILE_MOST);
    TRY(status == ST_IO ? ST_USAGE : status); /* nothing was done yet */
    TRY(json_reader_parse(&root, path, text_str(&text), text.n, 0, NULL));
    return read_text(bundle, path, &text, root);
}

/* ---- folders ---- */

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int is_result(const struct dirent *entry)
{
    const char *name = entry->d_name;
    return *name != '.' && (text_ends_with(name, ".json") || text_ends_with(name, ".jsonl") ||
                            text_ends_with(name, ".json.gz"));
}

/* The bundle keeps the path, which the file's name is part of. */
static Status read_in(PageBundle *bundle, const char *folder, const char *name)
{
    CLEANUP(text_free) Text path = {0};
    text_printf(&path, "%s%s%s", folder, text_ends_with(folder, "/") ? "" : "/", name);
    TRY(text_status(&path));
    json_t *kept = json_text_string(text_str(&path));
    if (json_array_append_new(bundle->held, kept)) return NO_MEMORY("for %s", folder);
    return read_path(bundle, json_string_value(kept));
}

/* A suite's results.json holds all the others. */
static Status read_folder(PageBundle *bundle, const char *folder)
{
    CLEANUP(text_free) Text whole = {0};
    struct dirent **entries = NULL;
    Status status = ST_OK;
    text_printf(&whole, "%s/results.json", folder);
    TRY(text_status(&whole));
    if (access(text_str(&whole), F_OK) == 0) return read_in(bundle, folder, "results.json");
    const int n = scandir(folder, &entries, is_result, alphasort);
    for (int i = 0; i < n; i++) {
        if (status == ST_OK) status = read_in(bundle, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (n > 0) return status;
    return FAIL(ST_USAGE, "%s has no result file: no .json, .json.gz or .jsonl", folder);
}

/* As many as ten files may have, so that a thousand of them do not take a thousand times as long. */
static Status check_sums(const PageBundle *bundle)
{
    enum { MOST_FILES = 10 };
    int64_t terms = 0;
    for (int i = 0; i < bundle->n; i++) terms += bundle->files[i].sum_count;
    if (terms <= (int64_t)MOST_FILES * SETTINGS_MOST_COUNT) return ST_OK;
    return FAIL(ST_USAGE,
                "the sums of these files ('accumulation.count') have %lld terms; a report is made "
                "of %lld at most: name fewer files",
                (long long)terms, (long long)MOST_FILES * SETTINGS_MOST_COUNT);
}

Status page_bundle_read(PageBundle *bundle, const char *const *paths, int n)
{
    *bundle = (PageBundle){.held = json_array(), .gaps = json_array()};
    if (!bundle->held || !bundle->gaps) return NO_MEMORY("for %s", paths[0]);
    for (int i = 0; i < n; i++)
        TRY(is_folder(paths[i]) ? read_folder(bundle, paths[i]) : read_path(bundle, paths[i]));
    return check_sums(bundle);
}

void page_bundle_free(PageBundle *bundle)
{
    for (int i = 0; i < bundle->n; i++) result_input_free(&bundle->files[i]);
    free(bundle->files);
    json_decref(bundle->held);
    json_decref(bundle->gaps);
}
