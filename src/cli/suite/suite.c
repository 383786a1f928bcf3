#include "cli/suite/suite.h"

#include "base/folder.h"
#include "base/human.h"
#include "base/json_text.h"
#include "base/temp_file.h"
#include "bench/record/record_file.h"
#include "cli/output.h"
#include "cli/suite/suite_arguments.h"
#include "config/model_file.h"
#include "config/option_value.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char state_name[] = "suite.json";
static const size_t most_bytes = (size_t)1 << 20;

static const char *const states[SUITE_STATES] = {"waiting",    "done",     "failed",
                                                 "incomplete", "given up", "skipped"};

bool suite_part_is_over(const SuitePart *part)
{
    return part->state == SUITE_DONE || part->state == SUITE_SKIPPED;
}

/* ---- from the command line ---- */

/* Appends "--ctx 128,256": each value once in the order of the cells; with `one` only the first cell's. */
static void put_axis(Text *out, OptionId id, const Sweep *sweep, bool one)
{
    text_printf(out, "%s--%s ", out->n > 0 ? " " : "", option_table[id].name);
    for (int i = 0; i < (one ? 1 : sweep->n); i++) {
        bool seen = false;
        for (int j = 0; j < i && !seen; j++)
            seen = option_value_compare_cells(id, &sweep->configs[i], &sweep->configs[j]) == 0;
        if (seen) continue;
        text_printf(out, "%s%s", i > 0 ? "," : "", option_value_text(id, &sweep->configs[i]).s);
    }
}

/* Where its file is, wherever a part or a resumed suite is started. Arguments are split at blanks. */
static Status put_model(Text *out, const char *model)
{
    char real[PATH_MAX];
    const bool bundled = model_file_is_bundled(model);
    const char *value = bundled ? model : realpath(model, real);
    if (!value || strpbrk(value, " ,"))
        return FAIL(ST_USAGE,
                    "--model %s: a suite takes no path with blanks or commas in it; rename or link "
                    "the folder",
                    human_quote(model).s);
    text_printf(out, "%s--model %s", out->n > 0 ? " " : "", value);
    return ST_OK;
}

static Status keep_model(char *to, const Settings *settings, const Sweep *sweep, bool one)
{
    CLEANUP(text_free) Text args = {0};
    if (settings->model) TRY(put_model(&args, settings->model));
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (settings->given[id] && id != OPTION_MODEL && option_in(OPTION_LIST(OPTIONS_DIMS), id))
            put_axis(&args, (OptionId)id, sweep, one);
    }
    return suite_arguments_keep(&args, to, SUITE_TEXT_SIZE);
}

Status suite_make(Suite *suite, const Settings *settings, const Sweep *sweep, const char *folder)
{
    *suite = (Suite){.folder = folder, .budget = settings->budget};
    const int n = snprintf(suite->command, SUITE_ARGS_SIZE, "%s", settings->command_line);
    if (n >= SUITE_ARGS_SIZE) suite->command[0] = '\0';
    TRY(keep_model(suite->model, settings, sweep, false));
    TRY(keep_model(suite->first, settings, sweep, true));
    if (settings->model) suite->hash = model_spec_hash(&sweep->configs[0].model);
    TRY(suite_arguments_keep_given(suite->device, SUITE_TEXT_SIZE,
                                   OPTION_LIST(SUITE_OPTIONS_DEVICE), settings, sweep->configs));
    TRY(suite_arguments_keep_given(suite->cells, SUITE_TEXT_SIZE, OPTION_LIST(SUITE_OPTIONS_CELLS),
                                   settings, sweep->configs));
    strcpy(suite->parts[SUITE_LIMITS].args, suite->device);
    return ST_OK;
}

/* ---- the file ---- */

static json_t *part_json(const SuitePart *part, const char *name)
{
    return json_pack("{s:s, s:s, s:f, s:f, s:s, s:i, s:s}", "name", name, "words", part->args,
                     "expected_s", part->expected, "seconds", part->seconds, "state",
                     states[part->state], "cut_short", part->cut, "message", part->message);
}

static json_t *suite_json(const Suite *s)
{
    json_t *parts = json_array();
    json_t *root =
        json_pack("{s:i, s:s, s:f, s:s, s:s, s:s, s:s, s:s, s:b, s:o}", "suite", RECORD_SCHEMA,
                  "command", s->command, "budget_s", isinf(s->budget) ? 0 : s->budget, "model",
                  s->model, "first_model", s->first, "model_hash", s->hash.s, "device", s->device,
                  "cells", s->cells, "planned", s->planned, "parts", parts);
    int failed = !root;
    for (int i = 0; i < SUITE_PARTS && !failed; i++)
        failed = json_array_append_new(parts, part_json(&s->parts[i], suite_parts_info[i].name));
    if (!failed) return root;
    json_decref(root);
    return NULL;
}

static Status state_path(const char *folder, char path[PATH_MAX])
{
    return output_path(folder, state_name, path);
}

Status suite_write_state(const char *folder, const json_t *root)
{
    char path[PATH_MAX];
    CLEANUP(text_free) Text text = {0};
    TRY(state_path(folder, path));
    if (!root) return NO_MEMORY("for %s", path);
    TRY(output_json(&text, root));
    return text_write_file(path, text_str(&text), text.n);
}

Status suite_write(const Suite *suite)
{
    CLEANUP(json_text_free) json_t *root = suite_json(suite);
    return suite_write_state(suite->folder, root);
}

static bool take_text(const json_t *json, const char *name, char *to, size_t size)
{
    const char *text = json_string_value(json_object_get(json, name));
    if (!text || strlen(text) >= size) return false;
    strcpy(to, text);
    return true;
}

static bool take_part(SuitePart *part, json_t *json, const char *name)
{
    const char *named, *state;
    part->cut = -1;
    if (json_unpack(json, "{s:s, s:s, s?F, s?F, s?i}", "name", &named, "state", &state,
                    "expected_s", &part->expected, "seconds", &part->seconds, "cut_short",
                    &part->cut) ||
        strcmp(named, name) != 0)
        return false;
    for (int i = 0; i < SUITE_STATES; i++) {
        if (strcmp(state, states[i]) == 0) part->state = (SuiteState)i;
    }
    const bool whole = take_text(json, "words", part->args, sizeof part->args) &&
                       take_text(json, "message", part->message, sizeof part->message);
    /* Older programs did not count: a part of which cells failed was done and had a message. */
    if (part->cut < 0 && part->state == SUITE_DONE && *part->message)
        part->state = SUITE_INCOMPLETE;
    if (part->cut < 0) part->cut = 0;
    return whole;
}

static bool take_suite(Suite *s, json_t *root)
{
    json_t *parts;
    int schema, planned;
    if (json_unpack(root, "{s:i, s:F, s:b, s:o}", "suite", &schema, "budget_s", &s->budget,
                    "planned", &planned, "parts", &parts))
        return false;
    if (!(s->budget > 0)) s->budget = INFINITY;
    /* older files have neither */
    (void)take_text(root, "command", s->command, sizeof s->command);
    (void)take_text(root, "model_hash", s->hash.s, sizeof s->hash.s);
    s->planned = planned;
    bool whole = schema == RECORD_SCHEMA && json_array_size(parts) == SUITE_PARTS &&
                 take_text(root, "model", s->model, sizeof s->model) &&
                 take_text(root, "first_model", s->first, sizeof s->first) &&
                 take_text(root, "device", s->device, sizeof s->device) &&
                 take_text(root, "cells", s->cells, sizeof s->cells);
    for (int i = 0; i < SUITE_PARTS && whole; i++)
        whole = take_part(&s->parts[i], json_array_get(parts, (size_t)i), suite_parts_info[i].name);
    return whole;
}

bool suite_is_in(const char *folder)
{
    char path[PATH_MAX];
    return state_path(folder, path) == ST_OK && access(path, F_OK) == 0;
}

Status suite_check_folder(const char *folder)
{
    static const char *const parts[] = {".",      "profile", "fp8",           "ranks_profile",
                                        "tables", "cache",   "cache/roofstep"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        TRY(folder_check_own(folder, parts[i]));
    return ST_OK;
}

Status suite_read_state(const char *folder, json_t **root)
{
    char path[PATH_MAX];
    CLEANUP(text_free) Text text = {0};
    *root = NULL;
    TRY(state_path(folder, path));
    TRY(suite_check_folder(folder));
    if (text_read_file(&text, path, most_bytes) != ST_OK)
        return FAIL(ST_USAGE, "--resume %s: no suite in this folder (cannot read %s)", folder,
                    path);
    *root = json_loadb(text_str(&text), text.n, JSON_REJECT_DUPLICATES, NULL);
    return *root ? ST_OK : suite_other_version(folder);
}

Status suite_other_version(const char *folder)
{
    return FAIL(ST_USAGE, "%s/%s is no suite of this version: start again in another folder",
                folder, state_name);
}

/* The file may be a stranger's: no argument in it may name a file to write or any option that a suite
 * does not use. */
static Status check_arguments(const Suite *s)
{
    const struct {
        const char *field, *args;
        const OptionId *allowed;
    } common[] = {{"model", s->model, OPTION_LIST(OPTIONS_DIMS)},
                  {"first_model", s->first, OPTION_LIST(OPTIONS_DIMS)},
                  {"device", s->device, OPTION_LIST(SUITE_OPTIONS_DEVICE)},
                  {"cells", s->cells, OPTION_LIST(SUITE_OPTIONS_CELLS)}};
    char path[PATH_MAX], part[32];
    TRY(state_path(s->folder, path));
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        TRY(suite_arguments_check(common[i].args, &cmd_bench.options, common[i].allowed, path,
                                  common[i].field));
    for (int id = 0; id < SUITE_PARTS; id++) {
        OptionId allowed[OPTION_COUNT + 1];
        suite_parts_options((SuitePartId)id, allowed);
        snprintf(part, sizeof part, "part %s", suite_parts_info[id].name);
        TRY(suite_arguments_check(s->parts[id].args, &suite_parts_info[id].command->options,
                                  allowed, path, part));
    }
    return ST_OK;
}

/* Parts read the model's configuration anew: results of two models would be one page. */
static Status check_model(const Suite *s)
{
    Settings settings;
    CLEANUP(sweep_free) Sweep sweep = {0};
    if (!*s->hash.s) return ST_OK;
    TRY(suite_arguments_parse(s->first, &cmd_bench.options, &settings, &sweep));
    const ModelSpec *model = &sweep.configs[0].model;
    if (strcmp(model_spec_hash(model).s, s->hash.s) == 0) return ST_OK;
    return FAIL(ST_USAGE,
                "--resume %s: the configuration of %s has changed since this suite began: start "
                "again in another folder with --out-dir, or restore the configuration",
                s->folder, *model->name ? model->name : "its model");
}

/* A part whose result file is gone runs again: the page reads the file. The page needs no limits. */
static Status rerun_lost(Suite *s)
{
    char path[PATH_MAX];
    for (int id = SUITE_LIMITS + 1; id < SUITE_PARTS; id++) {
        TRY(output_path(s->folder, suite_parts_info[id].result, path));
        if (s->parts[id].state == SUITE_DONE && access(path, F_OK) != 0)
            s->parts[id].state = SUITE_WAITING;
    }
    return ST_OK;
}

Status suite_read(Suite *suite, const char *folder)
{
    CLEANUP(json_text_free) json_t *root = NULL;
    *suite = (Suite){.folder = folder};
    TRY(suite_read_state(folder, &root));
    if (!take_suite(suite, root)) return suite_other_version(folder);
    TRY(check_arguments(suite));
    TRY(check_model(suite));
    return rerun_lost(suite);
}

void suite_remove_temporaries(const char *folder)
{
    static const char *const folders[] = {".", "profile", "fp8", "ranks_profile", "tables"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (output_path(folder, folders[i], path) == ST_OK) temp_file_remove_stale(path);
    }
}
