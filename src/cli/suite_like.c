#include "cli/suite_like.h"

#include "base/human.h"
#include "base/log.h"
#include "bench/cell.h"
#include "bench/environment.h"
#include "bench/outlook.h"
#include "bench/record_file.h"
#include "bench/runner.h"
#include "cli/like_tables.h"
#include "report/page.h"
#include "report/page_bundle.h"
#include "report/report_sink.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double usual_budget = 180;

typedef struct Like {
    int writeup;
    char folder[PATH_MAX];
    double budget;
    SuiteRates rates;
    Config *cells; /* of every row, and after them those that are run */
    int n_run;
} Like;

static Status path_in(const Like *like, const char *name, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", like->folder, name) < PATH_MAX) return ST_OK;
    return FAIL(ST_USAGE, "--out-dir: the path is too long");
}

/* ---- which rows are run ---- */

/* What decides where the rows run; samples are cut short, three are always taken. */
static void device_words(const Settings *settings, const Config *config, char words[256])
{
    int n = snprintf(words, 256, "--sample-time 5s");
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
    const Config *best = NULL, *run = like->cells + like_n_rows;
    double least = INFINITY;
    for (int r = 0; r < like_n_rows; r++) {
        const Config *config = &like->cells[r];
        if (like_tables[like_rows[r].table].writeup != like->writeup) continue;
        const double seconds = suite_cost_cell(config, &like->rates);
        if (seconds >= least || is_listed(run, like->n_run, config)) continue;
        best = config;
        least = seconds;
    }
    return best;
}

/* From the cheapest on, as many as the time allows. */
static void choose(Like *like)
{
    double left = like->budget;
    for (const Config *next; (next = cheapest(like));) {
        left -= suite_cost_cell(next, &like->rates);
        if (left < 0) return;
        like->cells[like_n_rows + like->n_run++] = *next;
    }
}

static Status make_cells(Like *like, const Settings *settings, const Config *config)
{
    char words[256];
    Limits limits;
    device_words(settings, config, words);
    like->cells = calloc(2 * (size_t)like_n_rows, sizeof *like->cells);
    if (!like->cells) return FAIL(ST_NO_MEMORY, "no memory for the rows of a write-up");
    for (int r = 0; r < like_n_rows; r++) TRY(like_config(&like_rows[r], words, &like->cells[r]));
    TRY(limits_get(config, false, false, &limits));
    like->rates = suite_cost_rates(&limits);
    choose(like);
    return ST_OK;
}

/* ---- running them ---- */

static Status add(void *self, Record *record)
{
    return report_sink_add(self, record);
}

static Status run_rows(const Like *like, const char *path, const RecordSet *known, RecordSet *rows,
                       int *signal)
{
    bool varies[OPTION_COUNT] = {[OPTION_SIZE] = true,
                                 [OPTION_CTX] = true,
                                 [OPTION_D_HEAD] = true,
                                 [OPTION_PRECISION] = true,
                                 [OPTION_ATTENTION] = true};
    ReportSink sink;
    RunnerOutcome outcome = {0};
    TRY(report_sink_open(&sink, path, "json", known));
    const RunnerTask task = {.configs = like->cells + like_n_rows,
                             .n = like->n_run,
                             .varies = varies,
                             .cell = cell_run,
                             .weight = outlook_weight,
                             .resumed = known,
                             .self = &sink,
                             .finished = add};
    const ReportInput input = {.set = rows};
    Status status = runner_run(&task, rows, &outcome);
    *signal = outcome.signal;
    if (status == ST_OK && !outcome.signal) status = report_sink_finish(&sink, &input);
    report_sink_close(&sink);
    return status;
}

/* ---- what is written ---- */

static Status write_page(const Like *like, const char *results, const char *command)
{
    char path[PATH_MAX];
    PageBundle bundle;
    Text text = {0};
    TRY(path_in(like, "index.html", path));
    if (!page_is_built()) return ST_OK;
    Status status = page_bundle_read(&bundle, &results, 1);
    if (status == ST_OK) status = page_write(&text, bundle.files, bundle.n, command);
    if (status == ST_OK) status = text_write_file(path, text_str(&text), text.n);
    page_bundle_free(&bundle);
    text_free(&text);
    return status;
}

static Status write_tables(const Like *like, const RecordSet *rows)
{
    char path[PATH_MAX];
    Text text = {0};
    TRY(path_in(like, "tables.md", path));
    Status status = like_tables_write(&text, like->writeup, like->cells, rows, &like->rates);
    if (status == ST_OK) status = text_write_file(path, text_str(&text), text.n);
    if (status == ST_OK) fputs(text_str(&text), stdout);
    text_free(&text);
    return status;
}

/* ---- the whole of it ---- */

static Status read_known(const char *path, RecordSet *known)
{
    return access(path, F_OK) == 0 ? record_file_read(known, path, NULL) : ST_OK;
}

static Status run_into(const Like *like, const Settings *settings, RecordSet *known,
                       RecordSet *rows, int *exit_code)
{
    char path[PATH_MAX];
    int signal = 0;
    TRY(path_in(like, "results.json", path));
    TRY(read_known(path, known));
    TRY(run_rows(like, path, known, rows, &signal));
    if (signal) {
        log_note("interrupted: the same command goes on with %s", like->folder);
        *exit_code = EXIT_INTERRUPTED;
        return ST_OK;
    }
    TRY(write_tables(like, rows));
    return record_set_size(rows) > 0 ? write_page(like, path, settings->command_line) : ST_OK;
}

static Status run_with(const Like *like, const Settings *settings, int *exit_code)
{
    json_t *environment = NULL;
    RecordSet known = {0}, rows = {0};
    TRY(environment_new(&environment, settings->command_line));
    Status status = record_set_init(&known, environment);
    if (status == ST_OK) status = record_set_init(&rows, environment);
    if (status == ST_OK) status = run_into(like, settings, &known, &rows, exit_code);
    record_set_free(&known);
    record_set_free(&rows);
    json_decref(environment);
    return status;
}

static Status make_folder(const char *folder)
{
    struct stat info;
    if (mkdir(folder, 0777) == 0) return ST_OK;
    if (errno == EEXIST && stat(folder, &info) == 0 && S_ISDIR(info.st_mode)) return ST_OK;
    return FAIL(ST_IO, "cannot make the folder %s: %s", folder,
                strerror(errno == EEXIST ? ENOTDIR : errno));
}

Status suite_like_run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    Like like = {.budget = settings->full         ? INFINITY
                           : settings->budget > 0 ? settings->budget
                                                  : usual_budget};
    const uint64_t dims = settings->given & OPTIONS_DIMS;
    if (dims)
        return FAIL(ST_USAGE, "--like runs the models of the write-up: leave out model options");
    TRY(like_find(settings->like, &like.writeup));
    if (settings->out_dir)
        snprintf(like.folder, sizeof like.folder, "%s", settings->out_dir);
    else
        snprintf(like.folder, sizeof like.folder, "roofstep-like-%s", settings->like);
    TRY(make_folder(like.folder));
    Status status = make_cells(&like, settings, &sweep->configs[0]);
    if (status == ST_OK) status = run_with(&like, settings, exit_code);
    free(like.cells);
    return status;
}
