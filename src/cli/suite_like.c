#include "cli/suite_like.h"

#include "base/folder.h"
#include "base/log.h"
#include "bench/cell.h"
#include "bench/environment.h"
#include "bench/limits_gpu.h"
#include "bench/outlook.h"
#include "bench/placement.h"
#include "bench/profile_cell.h"
#include "bench/record_file.h"
#include "bench/runner.h"
#include "cli/bench_dry_run.h"
#include "cli/like_tables.h"
#include "cli/output.h"
#include "report/page.h"
#include "report/page_bundle.h"
#include "report/report_md.h"
#include "report/report_sink.h"
#include "report/table_files.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double watching = 2.5; /* times what bench takes: measured, then run again watched */

/* What the rows of a write-up differ in. */
static const bool varying[OPTION_COUNT] = {
    [OPTION_SIZE] = true,      [OPTION_CTX] = true,       [OPTION_D_HEAD] = true,
    [OPTION_PRECISION] = true, [OPTION_ATTENTION] = true, [OPTION_MODE] = true,
    [OPTION_WARMUP] = true,    [OPTION_SEED] = true};

/* Cells that are run one after the other into one file. */
typedef struct Batch {
    const char *file;
    RunnerCell *cell;
    Config *list;
    int n;
    RecordSet rows;
} Batch;

typedef struct Like {
    int writeup;
    char folder[PATH_MAX];
    double budget;
    SuiteRates rates;
    Config *cells, *watched; /* of every row, and of every table of profile */
    Batch bench, profile;
} Like;

static Status path_in(const Like *like, const char *name, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", like->folder, name) < PATH_MAX) return ST_OK;
    return FAIL(ST_USAGE, "--out-dir: the path is too long");
}

/* ---- which rows are run ---- */

/* What decides where the rows run. */
static void device_words(const Settings *settings, const Config *config, char words[256])
{
    int n = 0;
    words[0] = '\0';
    if (settings->given & OPTION_BIT(DEVICE))
        n += snprintf(words + n, (size_t)(256 - n), " --device %s", config->device);
    if (settings->given & OPTION_BIT(THREADS))
        n += snprintf(words + n, (size_t)(256 - n), " --threads %" PRId64, config->threads);
    if (settings->given & OPTION_BIT(MEMORY_LIMIT))
        n += snprintf(words + n, (size_t)(256 - n), " --memory-limit %" PRId64,
                      config->memory_limit);
    if (settings->given & OPTION_BIT(TIMEOUT))
        snprintf(words + n, (size_t)(256 - n), " --timeout %.15g", config->timeout);
}

static bool is_listed(const Config *list, int n, const Config *config)
{
    char a[RECORD_KEY_SIZE], b[RECORD_KEY_SIZE];
    record_key_of_config(config, a);
    for (int i = 0; i < n; i++) {
        record_key_of_config(&list[i], b);
        if (strcmp(a, b) == 0) return true;
    }
    return false;
}

/* The cheapest row that is not listed yet; NULL: none. */
static const Config *cheapest(const Like *like)
{
    const Config *best = NULL;
    double least = INFINITY;
    for (int r = 0; r < like_n_rows; r++) {
        const Config *config = &like->cells[r];
        if (like_tables[like_rows[r].table].writeup != like->writeup) continue;
        const double seconds = suite_cost_cell(config, &like->rates);
        if (seconds >= least || is_listed(like->bench.list, like->bench.n, config)) continue;
        best = config;
        least = seconds;
    }
    return best;
}

/* From the cheapest row on, as many as two thirds of the time allow; then the profiles that the rest does. */
static void choose(Like *like)
{
    double left = like->budget * 2 / 3;
    for (const Config *next; (next = cheapest(like));) {
        left -= suite_cost_cell(next, &like->rates);
        if (left < 0) break;
        like->bench.list[like->bench.n++] = *next;
    }
    left = like->budget / 3;
    for (int id = 0; id < like_n_tables; id++) {
        if (like_tables[id].writeup != like->writeup || !like_is_profile(&like_tables[id]))
            continue;
        left -= watching * suite_cost_cell(&like->watched[id], &like->rates);
        if (left < 0) return;
        like->profile.list[like->profile.n++] = like->watched[id];
    }
}

/* Samples of bench and attention are cut short, three are always taken. */
static Status make_rows(Like *like, const char *device)
{
    char words[300];
    snprintf(words, sizeof words, "--sample-time 5s %s", device);
    for (int r = 0; r < like_n_rows; r++) {
        const LikeTable *table = &like_tables[like_rows[r].table];
        TRY(like_config(table, &like_rows[r], words, &like->cells[r]));
    }
    for (int id = 0; id < like_n_tables; id++) {
        if (like_is_profile(&like_tables[id]))
            TRY(like_config(&like_tables[id], NULL, device, &like->watched[id]));
    }
    return ST_OK;
}

/* What would be run is told by stored limits or guesses: nothing is measured. */
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

static Status make_cells(Like *like, const Settings *settings, const Config *config)
{
    char words[256];
    like->cells = calloc(2 * (size_t)(like_n_rows + like_n_tables), sizeof *like->cells);
    if (!like->cells) return FAIL(ST_NO_MEMORY, "no memory for the rows of a write-up");
    like->watched = like->cells + like_n_rows;
    like->bench.list = like->watched + like_n_tables;
    like->profile.list = like->bench.list + like_n_rows;
    device_words(settings, config, words);
    TRY(make_rows(like, words));
    if (settings->dry_run) {
        like->rates = known_rates(config);
    } else {
        TRY(measured_rates(config, &like->rates));
    }
    choose(like);
    return ST_OK;
}

/* ---- running them ---- */

static Status add(void *self, Record *record)
{
    return report_sink_add(self, record);
}

static Status profile_cell(const Config *config, CellLink *link)
{
    const ProfileTask task = {0};
    return profile_cell_run(config, link, &task);
}

/* Nothing measured is ever thrown away: rows that an earlier, longer budget allowed stay. */
static Status keep_others(RecordSet *rows, const RecordSet *known)
{
    for (size_t i = 0; i < record_set_size(known); i++) {
        Record *record = record_set_at(known, i);
        const char *key = record_key(record);
        if (!key || !record_set_find(rows, key)) TRY(record_set_share(rows, known, record));
    }
    return ST_OK;
}

static Status run_into(Batch *batch, const char *path, const RecordSet *known, int *signal)
{
    ReportSink sink;
    RunnerOutcome outcome = {0};
    TRY(report_sink_open(&sink, path, "json", known));
    const RunnerTask task = {.configs = batch->list,
                             .n = batch->n,
                             .varies = varying,
                             .cell = batch->cell,
                             .weight = outlook_weight,
                             .weight_is_known = outlook_weight_is_known,
                             .resumed = known,
                             .self = &sink,
                             .finished = add};
    const ReportInput input = {.set = &batch->rows};
    Status status = runner_run(&task, &batch->rows, &outcome);
    *signal = outcome.signal;
    if (status == ST_OK) status = keep_others(&batch->rows, known);
    if (status == ST_OK && !outcome.signal) status = report_sink_finish(&sink, &input);
    report_sink_close(&sink);
    return status;
}

/* What is finished in its file is kept. */
static Status read_known(const Like *like, const Batch *batch, char path[PATH_MAX],
                         RecordSet *known)
{
    TRY(path_in(like, batch->file, path));
    return access(path, F_OK) == 0 ? record_file_read(known, path, NULL) : ST_OK;
}

static Status run_batch(const Like *like, Batch *batch, json_t *environment, int *signal)
{
    char path[PATH_MAX];
    RecordSet known;
    TRY(record_set_init(&batch->rows, environment));
    TRY(record_set_init(&known, environment));
    Status status = read_known(like, batch, path, &known);
    if (status == ST_OK && (batch->n > 0 || record_set_size(&known) > 0))
        status = run_into(batch, path, &known, signal);
    record_set_free(&known);
    return status;
}

/* ---- what is written ---- */

static Status write_page(const Like *like, const PageInput *input)
{
    char path[PATH_MAX];
    Text text = {0};
    if (!page_is_built()) return ST_OK;
    TRY(path_in(like, "index.html", path));
    Status status = page_write(&text, input);
    if (status == ST_OK) status = text_write_file(path, text_str(&text), text.n);
    text_free(&text);
    return status;
}

/* The tables alone: printed, and kept as tables.md. */
static Status print_tables(const Like *like, const PageInput *input)
{
    char path[PATH_MAX];
    Text text = {0};
    Status status = path_in(like, "tables.md", path);
    for (int i = 0; status == ST_OK && i < input->n_more; i++) {
        text_printf(&text, "## %s: %s\n\n", like_writeups[like->writeup].what,
                    input->more[i].title);
        status = input->more[i].write(&text, report_md_table, &input->more[i]);
        text_puts(&text, "\n");
    }
    if (status == ST_OK) status = text_status(&text);
    if (status == ST_OK) status = text_write_file(path, text_str(&text), text.n);
    if (status == ST_OK) fputs(text_str(&text), stdout);
    text_free(&text);
    return status;
}

static Status write_parts(const Like *like, const PageInput *input)
{
    char folder[PATH_MAX];
    TRY(path_in(like, "tables", folder));
    TRY(print_tables(like, input));
    TRY(table_files_write(folder, input));
    return write_page(like, input);
}

/* Of the files there are. */
static Status read_files(const Like *like, char files[2][PATH_MAX], const char *paths[2],
                         PageBundle *bundle)
{
    int n = 0;
    TRY(path_in(like, like->bench.file, files[0]));
    TRY(path_in(like, like->profile.file, files[1]));
    if (record_set_size(&like->bench.rows) > 0) paths[n++] = files[0];
    if (record_set_size(&like->profile.rows) > 0) paths[n++] = files[1];
    return page_bundle_read(bundle, paths, n);
}

static Status write_all(const Like *like, const char *command)
{
    char files[2][PATH_MAX];
    const char *paths[2] = {"", ""};
    char line[256];
    PageBundle bundle = {0};
    const LikeResults results = {.cells = like->cells,
                                 .watched = like->watched,
                                 .rows = &like->bench.rows,
                                 .profiles = &like->profile.rows,
                                 .rates = like->rates};
    PagePart *parts = calloc((size_t)like_n_tables, sizeof *parts);
    snprintf(line, sizeof line, "Beside a write-up: %s.\n", like_writeups[like->writeup].what);
    Status status = parts ? read_files(like, files, paths, &bundle)
                          : FAIL(ST_NO_MEMORY, "no memory for the tables of a write-up");
    if (status == ST_OK) {
        const PageInput input = {.files = bundle.files,
                                 .n_files = bundle.n,
                                 .more = parts,
                                 .n_more = like_tables_list(&results, like->writeup, parts),
                                 .lines = line,
                                 .command = command};
        status = write_parts(like, &input);
    }
    page_bundle_free(&bundle);
    free(parts);
    return status;
}

/* ---- what would be run ---- */

static Status show_batch(const Like *like, const Batch *batch, const char *what,
                         const Settings *settings)
{
    char path[PATH_MAX];
    RecordSet known;
    Settings here = *settings;
    Sweep sweep = {.configs = batch->list, .n = batch->n};
    here.resume = like->folder;
    memcpy(sweep.varies, varying, sizeof varying);
    TRY(record_set_init(&known, NULL));
    printf("## %s: %s\n\n", like_writeups[like->writeup].what, what);
    Status status = read_known(like, batch, path, &known);
    if (status == ST_OK) status = bench_dry_run(&here, &sweep, &known);
    if (status == ST_OK) puts("");
    record_set_free(&known);
    return status;
}

static Status show_plan(const Like *like, const Settings *settings)
{
    if (like->bench.n > 0) TRY(show_batch(like, &like->bench, "measured", settings));
    if (like->profile.n > 0)
        TRY(show_batch(like, &like->profile, "profiled, in some 2.5 times the time", settings));
    puts(like->bench.n > 0
             ? "What --budget leaves no time for comes from the plan and this machine's limits."
             : "--budget leaves no time for a single row: all come from the plan.");
    return ST_OK;
}

/* ---- the whole of it ---- */

static Status run_batches(Like *like, const Settings *settings, json_t *environment, int *exit_code)
{
    int signal = 0;
    TRY(run_batch(like, &like->bench, environment, &signal));
    if (!signal) TRY(run_batch(like, &like->profile, environment, &signal));
    if (!signal) {
        TRY(write_all(like, settings->command_line));
        output_tell_folder(like->folder);
        return ST_OK;
    }
    log_note("interrupted: --like %s --resume %s does the rest", settings->like, like->folder);
    *exit_code = EXIT_INTERRUPTED;
    return ST_OK;
}

static Status run_all(Like *like, const Settings *settings, int *exit_code)
{
    json_t *environment = NULL;
    TRY(environment_new(&environment, settings->command_line));
    const Status status = run_batches(like, settings, environment, exit_code);
    record_set_free(&like->bench.rows);
    record_set_free(&like->profile.rows);
    json_decref(environment);
    return status;
}

static void name_folder(Like *like, const Settings *settings)
{
    const char *given = settings->resume ? settings->resume : settings->out_dir;
    snprintf(like->folder, sizeof like->folder, "%s%s", given ? "" : "roofstep-like-",
             given ? given : settings->like);
}

Status suite_like_run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    Like like = {.budget = settings->budget,
                 .bench = {.file = "results.json", .cell = cell_run},
                 .profile = {.file = "profile.json", .cell = profile_cell}};
    const uint64_t dims = settings->given & OPTIONS_DIMS;
    if (dims)
        return FAIL(ST_USAGE, "--like runs the models of the write-up: leave out model options");
    TRY(like_find(settings->like, &like.writeup));
    name_folder(&like, settings);
    if (!settings->dry_run) TRY(folder_make(like.folder));
    Status status = make_cells(&like, settings, &sweep->configs[0]);
    if (status == ST_OK)
        status =
            settings->dry_run ? show_plan(&like, settings) : run_all(&like, settings, exit_code);
    free(like.cells);
    return status;
}
