/* What is kept in files from one run to the next: suite.json, also of --like (suite --resume),
 * limits (plan --limits, and the stored ones), tables of what was measured. */
#include "base/disk_cache.h"
#include "bench/limits/limits_json.h"
#include "cli/published/published_plan.h"
#include "harness.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const unsigned refusals = HARNESS_MAY(USAGE) | HARNESS_MAY(NO_MEMORY);

/* What it would run is planned too, unless it is a write-up: the plans of its large models take seconds. */
static void resume(const uint8_t *data, size_t n)
{
    char folder[96];
    Settings settings;
    Sweep sweep;
    PublishedPlan plan;
    harness_put("suite/suite.json", data, n);
    snprintf(folder, sizeof folder, "%s/suite", harness_folder());
    const char *const words[] = {"suite", "--resume", folder, "--dry-run", NULL};
    harness_forget();
    if (!published_plan_is_in(folder)) {
        harness_taken(harness_command(words), refusals | HARNESS_MAY(UNSUPPORTED));
        return;
    }
    char *argv[] = {(char *)(uintptr_t)words[1], folder};
    if (sweep_parse(&cmd_suite.options, 2, argv, &settings, &sweep) != ST_OK)
        harness_fail("%s", status_message());
    harness_forget();
    harness_taken(published_plan_open(&plan, &settings, &sweep), refusals);
    published_plan_free(&plan);
    sweep_free(&sweep);
}

/* Limits that are taken are written and taken again. */
static void check_limits(const uint8_t *data, size_t n)
{
    Limits limits, again;
    json_t *json = NULL;
    harness_forget();
    if (!harness_taken(limits_json_read(&limits, (const char *)data, n),
                       refusals | HARNESS_MAY(IO)))
        return;
    if (!harness_taken(limits_json_encode(&json, &limits), refusals)) return;
    if (!harness_taken(limits_json_decode(&again, json), 0)) harness_fail("limits are lost");
    json_decref(json);
    const char *path = harness_put("limits.json", data, n);
    const char *const words[] = {"plan", "--limits",     path, "--d-model",   "32", "--d-ff",
                                 "64",   "--num-layers", "1",  "--num-heads", "2",  "--vocab",
                                 "50",   "--ctx",        "16", "--batch",     "1",  NULL};
    harness_taken(harness_command(words), refusals | HARNESS_MAY(UNSUPPORTED));
}

/* A file that is none is ignored, with a warning. */
static void check_table(const uint8_t *data, size_t n)
{
    harness_put("roofstep/kept.json", data, n);
    DiskCache *table = disk_cache_open("kept", "figures");
    const char *text = table ? disk_cache_get(table, "key") : NULL;
    if (text && !memmem(data, n, "key", 3) && !memmem(data, n, "\\u", 2))
        harness_fail("a text that is not in the file: %s", text);
    disk_cache_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    harness_folder();
    resume(data, n);
    check_limits(data, n);
    check_table(data, n);
    harness_clear();
    return 0;
}
