#include "cli/published/published_plan.h"

#include "base/json_text.h"
#include "bench/record/record_file.h"
#include "cli/output.h"
#include "cli/suite/suite.h"
#include "cli/suite/suite_arguments.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- suite.json ---- */

/* 0: --full; null: as the device has it. */
static json_t *budget_json(double budget)
{
    return isnan(budget) ? json_null() : json_real(isinf(budget) ? 0 : budget);
}

Status published_plan_write(const PublishedPlan *plan)
{
    CLEANUP(json_text_free)
    json_t *root =
        json_pack("{s:i, s:s, s:o, s:s, s:s, s:[{s:s, s:s, s:s}]}", "suite", RECORD_SCHEMA, "like",
                  published_list_writeups[plan->writeup].name, "budget_s",
                  budget_json(plan->budget), "device", plan->device, "sizes", plan->sizes, "parts",
                  "name", "rows", "words", plan->device, "state", plan->done ? "done" : "waiting");
    return suite_write_state(plan->folder, root);
}

static const char *text_of(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    return text ? text : "";
}

static double budget_of(const json_t *root)
{
    const json_t *budget = json_object_get(root, "budget_s");
    const double seconds = json_number_value(budget);
    return !json_is_number(budget) ? NAN : seconds > 0 ? seconds : INFINITY;
}

/* ---- arguments ---- */

static const OptionId common[] = {SUITE_OPTIONS_DEVICE, SUITE_OPTIONS_CELLS, OPTION_END};

static Status put_sizes(char to[PUBLISHED_ARGS_SIZE], const Settings *settings, const Sweep *sweep)
{
    CLEANUP(text_free) Text sizes = {0};
    for (int i = 0; settings->given[OPTION_SIZE] && i < sweep->n; i++)
        text_printf(&sizes, "%s,", sweep->configs[i].model.size);
    return suite_arguments_keep(&sizes, to, PUBLISHED_ARGS_SIZE);
}

static double budget_asked(const Settings *settings)
{
    const bool given = settings->given[OPTION_BUDGET] || settings->given[OPTION_FULL];
    return given ? settings->budget : NAN;
}

static bool is_budget(const PublishedPlan *plan, double seconds)
{
    if (isnan(seconds) || isnan(plan->budget)) return isnan(seconds) && isnan(plan->budget);
    return seconds == plan->budget || fabs(seconds - plan->budget) < 1e-9 * plan->budget;
}

/* "--threads 1" is not in "--threads 16". */
static bool has_argument(const char *args, OptionId id, const Settings *settings,
                         const Config *config)
{
    CLEANUP(text_free) Text arg = {0};
    suite_arguments_put(&arg, OPTION_LIST(id), settings, config);
    const char *at = strstr(args, text_str(&arg));
    return at && (at[arg.n] == ' ' || at[arg.n] == '\0');
}

/* The rows of a write-up have their own dimensions. */
static bool gives_dimensions(const Settings *settings)
{
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (settings->given[id] && id != OPTION_SIZE && option_in(OPTION_LIST(OPTIONS_DIMS), id))
            return true;
    }
    return false;
}

/* Is there an option that the suite was not started with? */
static bool differs(const PublishedPlan *plan, const Settings *settings, const Sweep *sweep)
{
    char sizes[PUBLISHED_ARGS_SIZE];
    bool same = !gives_dimensions(settings) && !settings->given[OPTION_OUT_DIR];
    if (settings->like)
        same = same && strcmp(settings->like, published_list_writeups[plan->writeup].name) == 0;
    if (!isnan(budget_asked(settings))) same = same && is_budget(plan, budget_asked(settings));
    if (settings->given[OPTION_SIZE])
        same = same && put_sizes(sizes, settings, sweep) == ST_OK && !strcmp(sizes, plan->sizes);
    for (const OptionId *id = common; *id != OPTION_END; id++) {
        if (settings->given[*id])
            same = same && has_argument(plan->device, *id, settings, &sweep->configs[0]);
    }
    return !same;
}

static Status refuse_arguments(const PublishedPlan *plan)
{
    CLEANUP(text_free) Text words = {0};
    text_printf(&words, "--like %s", published_list_writeups[plan->writeup].name);
    if (isinf(plan->budget)) text_puts(&words, " --full");
    if (isfinite(plan->budget)) text_printf(&words, " --budget %.6gs", plan->budget);
    if (*plan->sizes)
        text_printf(&words, " --size %.*s", (int)strlen(plan->sizes) - 1, plan->sizes);
    if (*plan->device) text_printf(&words, " %s", plan->device);
    return FAIL(ST_USAGE, "--resume %s keeps the options it was started with (%s): give no other",
                plan->folder, text_str(&words));
}

/* ---- opening ---- */

Status published_plan_check_arguments(const char *device, const char *sizes, const char *file)
{
    TRY(suite_arguments_check(device, &cmd_bench.options, common, file, "device"));
    return suite_arguments_check_sizes(sizes, file);
}

static Status take_arguments(PublishedPlan *plan, const json_t *root)
{
    char path[PATH_MAX];
    const char *device = text_of(root, "device"), *sizes = text_of(root, "sizes");
    if (published_list_find(text_of(root, "like"), &plan->writeup) != ST_OK ||
        strlen(device) >= sizeof plan->device || strlen(sizes) >= sizeof plan->sizes ||
        json_integer_value(json_object_get(root, "suite")) != RECORD_SCHEMA)
        return suite_other_version(plan->folder);
    strcpy(plan->device, device);
    strcpy(plan->sizes, sizes);
    plan->budget = budget_of(root);
    TRY(output_path(plan->folder, "suite.json", path));
    return published_plan_check_arguments(device, sizes, path);
}

static Status resume(PublishedPlan *plan, json_t **root, const Settings *settings,
                     const Sweep *sweep)
{
    snprintf(plan->folder, sizeof plan->folder, "%s", settings->resume);
    TRY(suite_read_state(settings->resume, root));
    if (!json_object_get(*root, "like"))
        return FAIL(ST_USAGE, "%s holds a suite of another kind: leave out --like", plan->folder);
    TRY(take_arguments(plan, *root));
    return differs(plan, settings, sweep) ? refuse_arguments(plan) : ST_OK;
}

static Status begin(PublishedPlan *plan, json_t **root, const Settings *settings,
                    const Sweep *sweep)
{
    const char *given = settings->out_dir;
    if (gives_dimensions(settings))
        return FAIL(ST_USAGE, "--like runs the models of the write-up: the only model option it "
                              "takes is --size, which chooses among its rows");
    TRY(published_list_find(settings->like, &plan->writeup));
    TRY(suite_arguments_keep_given(plan->device, PUBLISHED_ARGS_SIZE, common, settings,
                                   sweep->configs));
    TRY(put_sizes(plan->sizes, settings, sweep));
    plan->budget = budget_asked(settings);
    snprintf(plan->folder, sizeof plan->folder, "%s%s", given ? "" : "roofstep-like-",
             given ? given : settings->like);
    if (!suite_is_in(plan->folder)) return ST_OK;
    TRY(suite_read_state(plan->folder, root));
    if (strcmp(text_of(*root, "like"), settings->like) == 0) return ST_OK;
    return FAIL(ST_USAGE,
                "%s holds another suite: continue it with --resume %s, or name another folder with "
                "--out-dir",
                plan->folder, plan->folder);
}

/* A --size without any row is a typo. */
static Status check_rows(const PublishedPlan *plan)
{
    for (int t = 0; t < published_list_n_tables; t++) {
        if (published_list_tables[t].writeup == plan->writeup && plan->cells.has_table[t])
            return ST_OK;
    }
    return FAIL(ST_USAGE, "--size %.*s: %s has no such row", (int)strlen(plan->sizes) - 1,
                plan->sizes, published_list_writeups[plan->writeup].name);
}

Status published_plan_open(PublishedPlan *plan, const Settings *settings, const Sweep *sweep)
{
    CLEANUP(json_text_free) json_t *root = NULL;
    *plan = (PublishedPlan){0};
    TRY(settings->resume ? resume(plan, &root, settings, sweep)
                         : begin(plan, &root, settings, sweep));
    TRY(published_list_cells(&plan->cells, plan->device, plan->sizes));
    return check_rows(plan);
}

void published_plan_free(PublishedPlan *plan)
{
    published_list_cells_free(&plan->cells);
}

bool published_plan_is_in(const char *folder)
{
    CLEANUP(json_text_free) json_t *root = NULL;
    return suite_read_state(folder, &root) == ST_OK && json_object_get(root, "like");
}
