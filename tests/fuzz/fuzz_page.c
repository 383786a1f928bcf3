/* What `report` takes: results, memory, limits, traces, and the files of suites and write-ups,
 * packed or not. All of the page's data and every table in every format are made of it. */
#include "cli/published/published_page.h"
#include "harness.h"
#include "report/format/table_md.h"
#include "report/page/page.h"

#include <stdlib.h>

static const unsigned refusals = HARNESS_MAY(USAGE) | HARNESS_MAY(NO_MEMORY);

static void write_part(const PagePart *part)
{
    static const char *const formats[] = {"md", "latex", "typst"};
    for (int i = 0; i < 3; i++) {
        Text text = {0};
        harness_taken(part->write(&text, formats[i], part), refusals);
        text_free(&text);
    }
}

static void write_all(const PageInput *input)
{
    json_t *data = NULL;
    PagePart *parts = NULL;
    int n = 0;
    harness_forget();
    if (harness_taken(page_data_make(&data, input), refusals)) {
        char *dump = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(7));
        if (!dump) harness_fail("the data of a page are no JSON");
        free(dump);
    }
    json_decref(data);
    if (!harness_taken(page_parts_list(input, &parts, &n), refusals)) return;
    for (int i = 0; i < n; i++) {
        Text name = {0};
        page_parts_name(&name, parts, i);
        page_parts_title(&name, &parts[i]);
        text_free(&name);
        write_part(&parts[i]);
    }
    free(parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *path = harness_put("results.json", data, n);
    PageBundle bundle;
    PublishedPages likes;
    harness_forget();
    if (harness_taken(page_bundle_read(&bundle, &path, 1), refusals)) {
        const bool read = harness_taken(published_page_read(&likes, &bundle), refusals);
        const PageInput input =
            published_page_input(&likes, &bundle, "roofstep report results.json");
        if (read) write_all(&input);
        published_page_free(&likes);
    }
    page_bundle_free(&bundle);
    return 0;
}
