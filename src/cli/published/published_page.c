#include "cli/published/published_page.h"

#include "base/json_text.h"
#include "base/log.h"
#include "cli/published/published_estimate.h"
#include "cli/published/published_run.h"
#include "cli/suite/suite_output.h"

#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static Status add_rows(json_t *files, const char *name, const RecordSet *rows)
{
    json_t *json = NULL;
    TRY(suite_output_rows(&json, rows));
    if (json_object_set_new(files, name, json)) return NO_MEMORY("for the tables of a write-up");
    return ST_OK;
}

static Status add_cut(json_t *missing, const PublishedPlan *plan, const RecordSet *rows,
                      const char *part, const char *command)
{
    SuiteCells cells = {0};
    CLEANUP(text_free) Text why = {0};
    suite_output_count_rows(&cells, rows);
    if (cells.cut == 0) return ST_OK;
    suite_output_put_cut(&why, &cells);
    TRY(text_status(&why));
    return suite_output_add_missing(missing, plan->folder, part, command, text_str(&why),
                                    cells.cut);
}

/* results.json has a file of rows even without any, because it names the machine. */
static Status fill(PublishedPlan *plan, json_t *files, json_t *missing, json_t *planned,
                   const PublishedRecords *records)
{
    static const char *const parts[] = {"rows", "profiles"}, *const commands[] = {"bench",
                                                                                  "profile"};
    for (int p = 0; p < 2; p++) {
        const RecordSet *rows = &records->of[p];
        if (p == 0 || record_set_size(rows) > 0) TRY(add_rows(files, published_run_files[p], rows));
        TRY(add_cut(missing, plan, rows, parts[p], commands[p]));
    }
    plan->whole = json_array_size(missing) == 0;
    return published_estimate_fill(planned, plan->writeup, &plan->cells, records);
}

Status published_page_keep(PublishedPlan *plan, const PublishedRecords *records)
{
    json_t *files = json_object(), *missing = json_array(), *planned = json_object();
    CLEANUP(json_text_free)
    json_t *members =
        json_pack("{s:o, s:o, s:{s:s, s:s, s:s, s:o}}", "files", files, "missing", missing, "like",
                  "name", published_list_writeups[plan->writeup].name, "device", plan->device,
                  "sizes", plan->sizes, "planned", planned);
    if (!members) return NO_MEMORY("for the tables of a write-up");
    TRY(fill(plan, files, missing, planned, records));
    return suite_output_results(plan->folder, &records->of[false], members);
}

/* ---- reading ---- */

/* The rows were checked when the bundle was read. */
static Status read_rows(RecordSet *rows, const json_t *root, const char *name)
{
    const json_t *file = json_object_get(json_object_get(root, "files"), name);
    const json_t *results = json_object_get(file, "results");
    TRY(record_set_init(rows, NULL));
    for (size_t i = 0; i < json_array_size(results); i++)
        TRY(record_set_add(rows, json_array_get(results, i)));
    return ST_OK;
}

static void free_results(PublishedResults *results)
{
    published_list_cells_free(&results->cells);
    published_list_records_free(&results->records);
}

static Status read_results(PublishedResults *results, const json_t *root, const json_t *like)
{
    const char *name = record_text(like, "name"), *device = record_text(like, "device");
    const char *sizes = record_text(like, "sizes");
    if (!name || !device || strlen(device) >= PUBLISHED_ARGS_SIZE)
        return FAIL(ST_USAGE, "'like' needs the texts 'name' and 'device'");
    TRY(published_list_find(name, &results->writeup));
    sizes = sizes ? sizes : "";
    TRY(published_plan_check_arguments(device, sizes, "'like'"));
    TRY(published_list_cells(&results->cells, device, sizes));
    for (int p = 0; p < 2; p++)
        TRY(read_rows(&results->records.of[p], root, published_run_files[p]));
    results->expected = json_object_get(like, "planned");
    return ST_OK;
}

static Status add_page(PublishedPages *pages, const json_t *root)
{
    const json_t *like = json_object_get(root, "like");
    PublishedResults *results = &pages->list[pages->n];
    if (!like) return ST_OK;
    const Status status = read_results(results, root, like);
    if (status == ST_OK) {
        pages->n++;
        pages->n_parts += published_tables_list(results, pages->parts + pages->n_parts);
        text_printf(&pages->lines, "Beside a write-up: %s. ",
                    published_list_writeups[results->writeup].what);
        TRY(published_notes_count(&pages->lines, results));
        text_puts(&pages->lines, "\n");
        return ST_OK;
    }
    free_results(results);
    if (status != ST_USAGE) return status;
    log_warning("skipping the published tables: %s", status_message());
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
    for (int i = 0; i < pages->n; i++) free_results(&pages->list[i]);
    free(pages->list);
    free(pages->parts);
    text_free(&pages->lines);
}
