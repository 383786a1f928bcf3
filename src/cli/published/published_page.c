#include "cli/published/published_page.h"

#include "base/json_text.h"
#include "base/log.h"
#include "bench/record/record_file.h"
#include "cli/published/published_counts.h"
#include "cli/published/published_expected.h"
#include "cli/published/published_run.h"
#include "cli/suite/suite_cells.h"

#include <stdlib.h>
#include <string.h>

/* ---- kept ---- */

static Status rows_json(json_t **out, const RecordSet *rows)
{
    Text text = {0};
    Status status = record_file_json(&text, rows);
    *out = status == ST_OK ? json_loadb(text_str(&text), text.n, 0, NULL) : NULL;
    text_free(&text);
    return status == ST_OK && !*out ? NO_MEMORY("for the tables of a write-up") : status;
}

static Status add_rows(json_t *files, const char *name, const RecordSet *rows)
{
    json_t *json = NULL;
    TRY(rows_json(&json, rows));
    return json_object_set_new(files, name, json) ? NO_MEMORY("for the tables of a write-up")
                                                  : ST_OK;
}

/* A file without rows, too, for it says where they were to be run. */
static Status add_files(json_t *root, const RecordSet *rows, const RecordSet *profiles)
{
    json_t *files = json_object();
    if (json_object_set_new(root, "files", files)) return NO_MEMORY("for the tables of a write-up");
    TRY(add_rows(files, PUBLISHED_RESULTS_FILE, rows));
    if (record_set_size(profiles) > 0) TRY(add_rows(files, PUBLISHED_PROFILES_FILE, profiles));
    return ST_OK;
}

static Status add_like(json_t *root, const PublishedPlan *plan, const RecordSet *rows,
                       const RecordSet *profiles)
{
    json_t *planned = json_object();
    json_t *like =
        json_pack("{s:s, s:s, s:s, s:o}", "name", published_list_writeups[plan->writeup].name,
                  "device", plan->device, "sizes", plan->sizes, "planned", planned);
    if (json_object_set_new(root, "like", like)) return NO_MEMORY("for the tables of a write-up");
    return published_expected_fill(planned, plan->writeup, &plan->cells, rows, profiles);
}

/* Rows that were cut short, as `missing` of any suite has them. */
static Status add_cut(json_t *list, const PublishedPlan *plan, const RecordSet *rows,
                      const char *part, const char *command)
{
    SuiteCells cells = {0};
    Text why = {0};
    suite_cells_add_rows(&cells, rows);
    if (cells.cut == 0) return ST_OK;
    suite_cells_tell(&why, &cells);
    text_puts(&why, "; roofstep suite --resume ");
    text_shell_quote(&why, plan->folder);
    text_puts(&why, " measures again what was cut short");
    const Status status = text_status(&why);
    json_t *gap = json_pack("{s:s, s:s, s:s, s:i}", "part", part, "command", command, "why",
                            text_str(&why), "cut_short", cells.cut);
    text_free(&why);
    return json_array_append_new(list, gap) ? NO_MEMORY("for the tables of a write-up") : status;
}

static Status add_missing(json_t *root, PublishedPlan *plan, const RecordSet *rows,
                          const RecordSet *profiles)
{
    json_t *list = json_array();
    if (json_object_set_new(root, "missing", list))
        return NO_MEMORY("for the tables of a write-up");
    TRY(add_cut(list, plan, rows, "rows", "bench"));
    TRY(add_cut(list, plan, profiles, "profiles", "profile"));
    plan->whole = json_array_size(list) == 0;
    return ST_OK;
}

static Status write_json(const char *path, const json_t *root)
{
    char *dump = json_text_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(15));
    const Status status = dump ? text_write_file(path, dump, strlen(dump))
                               : NO_MEMORY("for the tables of a write-up");
    free(dump);
    return status;
}

Status published_page_keep(PublishedPlan *plan, const RecordSet *rows, const RecordSet *profiles)
{
    char path[PATH_MAX];
    json_t *root = NULL;
    TRY(published_plan_path(plan, PUBLISHED_RESULTS_FILE, path));
    Status status = rows_json(&root, rows);
    if (status == ST_OK) status = add_files(root, rows, profiles);
    if (status == ST_OK) status = add_missing(root, plan, rows, profiles);
    if (status == ST_OK) status = add_like(root, plan, rows, profiles);
    if (status == ST_OK) status = write_json(path, root);
    json_decref(root);
    return status;
}

/* ---- read again ---- */

/* Rows that were checked when the bundle was read. */
static RecordSet rows_of(const json_t *root, const char *name)
{
    const json_t *file = json_object_get(json_object_get(root, "files"), name);
    return (RecordSet){.results = json_object_get(file, "results")};
}

static Status read_page(PublishedPage *page, const json_t *root, const json_t *like)
{
    const char *name = record_text(like, "name"), *device = record_text(like, "device");
    const char *sizes = record_text(like, "sizes");
    if (!name || !device || strlen(device) >= PUBLISHED_ARGS_SIZE)
        return FAIL(ST_USAGE, "'like' needs the texts 'name' and 'device'");
    TRY(published_list_find(name, &page->writeup));
    sizes = sizes ? sizes : "";
    TRY(published_plan_check_words(device, sizes, "'like'"));
    TRY(published_cells_make(&page->cells, device, sizes));
    page->rows = rows_of(root, PUBLISHED_RESULTS_FILE);
    page->profiles = rows_of(root, PUBLISHED_PROFILES_FILE);
    page->results = (PublishedResults){.cells = &page->cells,
                                       .rows = &page->rows,
                                       .profiles = &page->profiles,
                                       .expected = json_object_get(like, "planned")};
    return ST_OK;
}

static Status add_page(PublishedPages *pages, const json_t *root)
{
    const json_t *like = json_object_get(root, "like");
    PublishedPage *page = &pages->list[pages->n];
    if (!like) return ST_OK;
    const Status status = read_page(page, root, like);
    if (status == ST_OK) {
        pages->n++;
        pages->n_parts +=
            published_tables_list(&page->results, page->writeup, pages->parts + pages->n_parts);
        text_printf(&pages->lines, "Beside a write-up: %s. ",
                    published_list_writeups[page->writeup].what);
        TRY(published_counts_put(&pages->lines, &page->results, page->writeup));
        text_puts(&pages->lines, "\n");
        return ST_OK;
    }
    published_cells_free(&page->cells);
    if (status != ST_USAGE) return status;
    log_warning("no table beside a write-up: %s", status_message());
    return ST_OK;
}

Status published_page_read(PublishedPages *pages, const PageBundle *bundle)
{
    const size_t n = json_array_size(bundle->held);
    *pages = (PublishedPages){0};
    if (n == 0) return ST_OK;
    pages->list = calloc(n, sizeof *pages->list);
    pages->parts = calloc(n * (size_t)published_list_n_tables, sizeof *pages->parts);
    if (!pages->list || !pages->parts) return NO_MEMORY("for the tables of a write-up");
    for (size_t i = 0; i < n; i++) TRY(add_page(pages, json_array_get(bundle->held, i)));
    return text_status(&pages->lines);
}

PageInput published_page_input(const PublishedPages *pages, const PageBundle *bundle,
                               const char *command)
{
    return (PageInput){.files = bundle->files,
                       .n_files = bundle->n,
                       .more = pages->parts,
                       .n_more = pages->n_parts,
                       .gaps = bundle->gaps,
                       .lines = text_str(&pages->lines),
                       .command = command};
}

void published_page_free(PublishedPages *pages)
{
    for (int i = 0; i < pages->n; i++) published_cells_free(&pages->list[i].cells);
    free(pages->list);
    free(pages->parts);
    text_free(&pages->lines);
}
