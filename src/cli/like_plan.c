#include "cli/like_plan.h"

#include "bench/limits_gpu.h"
#include "bench/placement.h"
#include "bench/record_file.h"
#include "cli/suite.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double watching = 2.5; /* times what bench takes: measured, then run again watched */

Status like_plan_path(const LikePlan *plan, const char *name, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", plan->folder, name) < PATH_MAX) return ST_OK;
    return FAIL(ST_USAGE, "--out-dir: the path is too long");
}

/* ---- which rows are run ---- */

static bool is_listed(const LikeBatch *batch, const Config *config)
{
    char a[RECORD_KEY_SIZE], b[RECORD_KEY_SIZE];
    record_key_of_config(config, a);
    for (int i = 0; i < batch->n; i++) {
        record_key_of_config(&batch->list[i], b);
        if (strcmp(a, b) == 0) return true;
    }
    return false;
}

static bool is_ours(const LikePlan *plan, int table)
{
    return like_tables[table].writeup == plan->writeup;
}

static bool is_watched(const LikePlan *plan, int table)
{
    return is_ours(plan, table) && like_is_profile(&like_tables[table]);
}

/* The cheapest row that is not listed yet; NULL: none. */
static const Config *cheapest(const LikePlan *plan)
{
    const Config *best = NULL;
    double least = INFINITY;
    for (int r = 0; r < like_n_rows; r++) {
        const Config *config = &plan->cells.rows[r];
        if (!is_ours(plan, like_rows[r].table)) continue;
        const double seconds = suite_cost_cell(config, &plan->rates);
        if (seconds >= least || is_listed(&plan->bench, config)) continue;
        best = config;
        least = seconds;
    }
    return best;
}

/* From the cheapest row on, as many as two thirds of the time allow; then the profiles that the rest does. */
static void choose(LikePlan *plan)
{
    double left = plan->budget * 2 / 3;
    for (const Config *next; (next = cheapest(plan));) {
        left -= suite_cost_cell(next, &plan->rates);
        if (left < 0) break;
        plan->bench.list[plan->bench.n++] = *next;
    }
    left = plan->budget / 3;
    for (int id = 0; id < like_n_tables; id++) {
        if (!is_watched(plan, id) || is_listed(&plan->profile, &plan->cells.watched[id])) continue;
        left -= watching * suite_cost_cell(&plan->cells.watched[id], &plan->rates);
        if (left < 0) return;
        plan->profile.list[plan->profile.n++] = plan->cells.watched[id];
    }
}

/* Stored limits, or guesses. */
static SuiteRates known_rates(const Config *config)
{
    Placement place;
    LimitsKey key;
    Limits limits;
    const bool placed = placement_of(config, &place) == ST_OK;
    const bool has_key =
        placed && (place.backend == BACKEND_cpu ? limits_key(place.threads, &key)
                                                : limits_gpu_key(place.device, &key)) == ST_OK;
    return suite_cost_rates(has_key && limits_load(&key, &limits) ? &limits : NULL);
}

static Status measured_rates(const Config *config, SuiteRates *rates)
{
    Limits limits;
    TRY(limits_get(config, false, false, &limits));
    *rates = suite_cost_rates(&limits);
    return ST_OK;
}

Status like_plan_settle(LikePlan *plan, bool guess)
{
    const LikeTable plain = {.command = &cmd_bench, .words = ""};
    Config config;
    if (plan->settled) return ST_OK;
    TRY(like_config(&plain, NULL, plan->device, &config));
    if (guess) plan->rates = known_rates(&config);
    if (!guess) TRY(measured_rates(&config, &plan->rates));
    choose(plan);
    plan->settled = true;
    return ST_OK;
}

/* ---- suite.json: what it was begun with ---- */

static json_t *keys_of(const LikeBatch *batch)
{
    char key[RECORD_KEY_SIZE];
    json_t *keys = json_array();
    for (int i = 0; i < batch->n; i++) {
        record_key_of_config(&batch->list[i], key);
        json_array_append_new(keys, json_string(key));
    }
    return keys;
}

/* A part as other suites have them, for whoever reads both. */
static json_t *batch_json(const LikePlan *plan, const LikeBatch *batch)
{
    return json_pack("{s:s, s:s, s:s, s:o}", "name", batch->file, "words", plan->device, "state",
                     batch->done ? "done" : "waiting", "cells", keys_of(batch));
}

static json_t *flops_json(const SuiteRates *rates)
{
    json_t *flops = json_object();
    for (int p = 0; p < PRECISION_COUNT; p++)
        json_object_set_new(flops, config_precision_name((Precision)p), json_real(rates->flops[p]));
    return flops;
}

static json_t *plan_json(const LikePlan *plan)
{
    return json_pack("{s:i, s:s, s:f, s:s, s:b, s:[o, o]}", "suite", RECORD_SCHEMA, "like",
                     like_writeups[plan->writeup].name, "budget_s",
                     isinf(plan->budget) ? 0 : plan->budget, "device", plan->device, "planned",
                     plan->settled, "parts", batch_json(plan, &plan->bench),
                     batch_json(plan, &plan->profile));
}

Status like_plan_write(const LikePlan *plan)
{
    json_t *root = plan_json(plan);
    if (plan->settled) json_object_set_new(root, "flops_per_s", flops_json(&plan->rates));
    const Status status = suite_write_state(plan->folder, root);
    json_decref(root);
    return status;
}

static const char *text_of(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    return text ? text : "";
}

static double budget_of(const json_t *root)
{
    const double seconds = json_number_value(json_object_get(root, "budget_s"));
    return seconds > 0 ? seconds : INFINITY;
}

/* ---- suite.json: which rows ---- */

static const Config *find_cell(const Config *cells, int n, const char *key)
{
    char own[RECORD_KEY_SIZE];
    for (int i = 0; i < n; i++) {
        record_key_of_config(&cells[i], own);
        if (strcmp(own, key) == 0) return &cells[i];
    }
    return NULL;
}

static bool take_batch(LikeBatch *batch, const json_t *part, const Config *cells, int n)
{
    const json_t *keys = json_object_get(part, "cells");
    if (strcmp(text_of(part, "name"), batch->file) != 0 || json_array_size(keys) > (size_t)n)
        return false;
    batch->done = strcmp(text_of(part, "state"), "done") == 0;
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        const Config *config = key ? find_cell(cells, n, key) : NULL;
        if (!config) return false;
        batch->list[batch->n++] = *config;
    }
    return true;
}

static bool take_flops(SuiteRates *rates, const json_t *flops)
{
    for (int p = 0; p < PRECISION_COUNT; p++) {
        rates->flops[p] =
            json_number_value(json_object_get(flops, config_precision_name((Precision)p)));
        if (!(rates->flops[p] > 0)) return false;
    }
    return true;
}

/* False: its rows are not those of this version. */
static bool take_choice(LikePlan *plan, const json_t *root)
{
    const json_t *parts = json_object_get(root, "parts");
    if (!json_is_true(json_object_get(root, "planned"))) return true;
    plan->settled =
        take_batch(&plan->bench, json_array_get(parts, 0), plan->cells.rows, like_n_rows) &&
        take_batch(&plan->profile, json_array_get(parts, 1), plan->cells.watched, like_n_tables) &&
        take_flops(&plan->rates, json_object_get(root, "flops_per_s"));
    return plan->settled;
}

/* ---- the words of a command line ---- */

static const OptionId common[] = {OPTION_DEVICE, OPTION_THREADS, OPTION_MEMORY_LIMIT,
                                  OPTION_TIMEOUT};
enum { COMMON = sizeof common / sizeof *common };

static void put_word(Text *out, OptionId id, const Config *config)
{
    const OptionValue value = option_load(id, config);
    text_printf(out, "%s--%s ", out->n > 0 ? " " : "", option_table[id].name);
    if (id == OPTION_DEVICE)
        text_puts(out, value.word);
    else if (id == OPTION_TIMEOUT)
        text_printf(out, "%.15g", value.real);
    else
        text_printf(out, "%" PRId64, value.number);
}

static Status put_common(LikePlan *plan, const Settings *settings, const Config *config)
{
    Text words = {0};
    for (int i = 0; i < COMMON; i++) {
        if (settings->given >> common[i] & 1) put_word(&words, common[i], config);
    }
    Status status = text_status(&words);
    if (status == ST_OK && words.n >= sizeof plan->device)
        status = FAIL(ST_USAGE, "too many words");
    if (status == ST_OK) strcpy(plan->device, text_str(&words));
    text_free(&words);
    return status;
}

static bool is_budget(const LikePlan *plan, double seconds)
{
    return seconds == plan->budget || fabs(seconds - plan->budget) < 1e-9 * plan->budget;
}

/* An option and its value: "--threads 1" is not in "--threads 16". */
static bool has_word(const char *words, OptionId id, const Config *config)
{
    Text word = {0};
    put_word(&word, id, config);
    const char *at = strstr(words, text_str(&word));
    const bool has = at && (at[word.n] == ' ' || at[word.n] == '\0');
    text_free(&word);
    return has;
}

/* Words that it was not begun with. */
static bool differs(const LikePlan *plan, const Settings *settings, const Config *config)
{
    const OptionBits other = OPTIONS_DIMS | OPTION_BIT(OUT_DIR);
    bool same = !(settings->given & other);
    if (settings->like)
        same = same && strcmp(settings->like, like_writeups[plan->writeup].name) == 0;
    if (settings->given & (OPTION_BIT(BUDGET) | OPTION_BIT(FULL)))
        same = same && is_budget(plan, settings->budget);
    for (int i = 0; i < COMMON; i++) {
        if (settings->given >> common[i] & 1)
            same = same && has_word(plan->device, common[i], config);
    }
    return !same;
}

static Status refuse_words(const LikePlan *plan)
{
    char budget[40];
    snprintf(budget, sizeof budget, "--budget %.6gs", plan->budget);
    return FAIL(ST_USAGE,
                "--resume %s goes on as that was begun, with --like %s %s%s%s: no other words",
                plan->folder, like_writeups[plan->writeup].name,
                isinf(plan->budget) ? "--full" : budget, *plan->device ? " " : "", plan->device);
}

/* ---- what there is ---- */

static Status take_words(LikePlan *plan, const json_t *root)
{
    const char *device = text_of(root, "device");
    if (like_find(text_of(root, "like"), &plan->writeup) != ST_OK ||
        strlen(device) >= sizeof plan->device ||
        json_integer_value(json_object_get(root, "suite")) != RECORD_SCHEMA)
        return suite_other_version(plan->folder);
    strcpy(plan->device, device);
    plan->budget = budget_of(root);
    return ST_OK;
}

static Status resume(LikePlan *plan, json_t **root, const Settings *settings, const Config *config)
{
    snprintf(plan->folder, sizeof plan->folder, "%s", settings->resume);
    TRY(suite_read_state(settings->resume, root));
    if (!json_object_get(*root, "like"))
        return FAIL(ST_USAGE, "%s holds a suite of another kind: leave out --like", plan->folder);
    TRY(take_words(plan, *root));
    return differs(plan, settings, config) ? refuse_words(plan) : ST_OK;
}

static void name_folder(LikePlan *plan, const Settings *settings)
{
    const char *given = settings->out_dir;
    snprintf(plan->folder, sizeof plan->folder, "%s%s", given ? "" : "roofstep-like-",
             given ? given : settings->like);
}

/* *root stays NULL where no suite is there, or one that was begun with other words: rows are then chosen anew. */
static Status begin(LikePlan *plan, json_t **root, const Settings *settings, const Config *config)
{
    if (settings->given & OPTIONS_DIMS)
        return FAIL(ST_USAGE, "--like runs the models of the write-up: leave out model options");
    TRY(like_find(settings->like, &plan->writeup));
    TRY(put_common(plan, settings, config));
    plan->budget = settings->budget;
    name_folder(plan, settings);
    if (!suite_is_in(plan->folder)) return ST_OK;
    TRY(suite_read_state(plan->folder, root));
    if (strcmp(text_of(*root, "like"), settings->like) != 0)
        return FAIL(ST_USAGE,
                    "%s holds another suite: --resume %s goes on with it, --out-dir names another "
                    "folder",
                    plan->folder, plan->folder);
    if (is_budget(plan, budget_of(*root)) && strcmp(text_of(*root, "device"), plan->device) == 0)
        return ST_OK;
    json_decref(*root);
    *root = NULL;
    return ST_OK;
}

static Status make_lists(LikePlan *plan)
{
    plan->bench.list = calloc((size_t)(like_n_rows + like_n_tables), sizeof *plan->bench.list);
    if (!plan->bench.list) return FAIL(ST_NO_MEMORY, "no memory for the rows of a write-up");
    plan->profile.list = plan->bench.list + like_n_rows;
    return like_cells_make(&plan->cells, plan->device);
}

Status like_plan_open(LikePlan *plan, const Settings *settings, const Config *config)
{
    json_t *root = NULL;
    *plan = (LikePlan){.bench = {.file = "results.json"}, .profile = {.file = "profile.json"}};
    Status status = settings->resume ? resume(plan, &root, settings, config)
                                     : begin(plan, &root, settings, config);
    if (status == ST_OK) status = make_lists(plan);
    if (status == ST_OK && root && !take_choice(plan, root))
        status = suite_other_version(plan->folder);
    json_decref(root);
    return status;
}

void like_plan_free(LikePlan *plan)
{
    like_cells_free(&plan->cells);
    free(plan->bench.list);
}

bool like_plan_is_in(const char *folder)
{
    json_t *root = NULL;
    const bool like = suite_read_state(folder, &root) == ST_OK && json_object_get(root, "like");
    json_decref(root);
    return like;
}
