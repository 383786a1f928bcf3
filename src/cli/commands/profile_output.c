#include "cli/commands/profile_output.h"

#include "base/file_lock.h"
#include "base/log.h"
#include "base/temp_file.h"
#include "bench/record/cell_label.h"
#include "bench/record/profile_view.h"
#include "bench/record/record_file.h"
#include "cli/output.h"
#include "report/profile/kineto_trace.h"
#include "report/profile/nsys_csv.h"
#include "report/profile/trace_ranks.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char record_name[] = "profile.json", trace_ending[] = "trace.json.gz";

/* Makes the folder and its parents. */
static Status make_folder(const char *path)
{
    char part[PATH_MAX];
    struct stat info;
    if (snprintf(part, sizeof part, "%s", path) >= PATH_MAX)
        return FAIL(ST_USAGE, "--out-dir: the path is too long");
    for (char *at = part + 1; *at; at++) {
        if (*at != '/') continue;
        *at = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) break;
        *at = '/';
    }
    if (mkdir(path, 0777) == 0) return ST_OK;
    if (errno == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return ST_OK;
    return FAIL(ST_IO, "cannot make the folder %s: %s", path, strerror(errno));
}

/* ---- the files of a cell ---- */

/* "profile_ENDING", or "profile-small-ctx-256_ENDING" where a sweep has several cells. */
static Status path_of(const ProfileOutput *output, const Config *config, const char *ending,
                      char path[PATH_MAX])
{
    const char *prefix = output->settings->prefix ? output->settings->prefix : "profile";
    CellLabel label = cell_label(config, output->sweep->varies);
    const bool one = output->sweep->n == 1;
    char name[640];
    for (char *at = label.s; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("._-", *at)) *at = '-';
    }
    snprintf(name, sizeof name, "%s%s%s_%s", prefix, one ? "" : "-", one ? "" : label.s, ending);
    return output_path(output->settings->out_dir, name, path);
}

static Status csv_path(const ProfileOutput *output, const Config *config, NsysReport report,
                       char path[PATH_MAX])
{
    char ending[64];
    snprintf(ending, sizeof ending, "%s.csv", nsys_csv_name(report));
    return path_of(output, config, ending, path);
}

/* ---- the traces of ranks ---- */

/* "profile_ranks": HTA takes the folder, so that nothing else is in it. */
static Status ranks_folder(const ProfileOutput *output, const Config *config, char path[PATH_MAX])
{
    return path_of(output, config, "ranks", path);
}

/* Those of an earlier run, which may have had more ranks, or of ranks that ended too early. */
static Status clear_ranks(const ProfileOutput *output, const Config *config)
{
    char folder[PATH_MAX], path[PATH_MAX];
    TRY(ranks_folder(output, config, folder));
    temp_file_remove_stale(folder);
    for (int rank = 0;; rank++) {
        TRY(trace_ranks_path(folder, rank, path, sizeof path));
        if (unlink(path) != 0 && rank >= config->ranks) break;
    }
    (void)rmdir(folder); /* it is empty now, or another's */
    return ST_OK;
}

/* The first rank whose trace is not here; as many as there are ranks: none. */
static Status find_missing(const char *folder, int ranks, int *missing)
{
    char path[PATH_MAX];
    for (*missing = 0; *missing < ranks; ++*missing) {
        TRY(trace_ranks_path(folder, *missing, path, sizeof path));
        if (access(path, F_OK) != 0) return ST_OK;
    }
    return ST_OK;
}

/* Each rank wrote its own, on another machine perhaps into a folder that is not this one. */
static Status merge_ranks(const ProfileOutput *output, const Config *config)
{
    char folder[PATH_MAX], path[PATH_MAX];
    int missing = 0;
    TRY(ranks_folder(output, config, folder));
    TRY(path_of(output, config, trace_ending, path));
    TRY(find_missing(folder, (int)config->ranks, &missing));
    if (missing < config->ranks) {
        log_warning("%s has no trace of rank %d, so that those of all ranks are not merged: take a "
                    "folder for --out-dir that all machines share",
                    folder, missing);
        return ST_OK;
    }
    return trace_ranks_merge(path, folder, (int)config->ranks);
}

/* ---- before the work ---- */

Status profile_output_check(const Settings *settings)
{
    if (!settings->prefix) return ST_OK;
    if (!settings->out_dir)
        return FAIL(ST_USAGE, "--prefix names files in --out-dir: give --out-dir DIR too");
    if (!strchr(settings->prefix, '/')) return ST_OK;
    return FAIL(ST_USAGE,
                "--prefix %s: a prefix of file names has no '/'; --out-dir names the folder",
                settings->prefix);
}

static Status check_file(const Settings *settings, const char *path)
{
    if (settings->out && file_lock_is_same(settings->out, path))
        return FAIL(ST_USAGE, "--out %s would overwrite a file of --out-dir: give another name",
                    settings->out);
    return output_check_path(path);
}

/* Checks all files of the cell but the record, which is opened at once. */
static Status check_cell(const ProfileOutput *output, const Config *config)
{
    char path[PATH_MAX];
    for (int report = 0; report < NSYS_COUNT; report++) {
        TRY(csv_path(output, config, (NsysReport)report, path));
        TRY(check_file(output->settings, path));
    }
    TRY(path_of(output, config, trace_ending, path));
    TRY(check_file(output->settings, path));
    return config->ranks > 1 ? clear_ranks(output, config) : ST_OK;
}

Status profile_output_open(ProfileOutput *output, const Settings *settings, const Sweep *sweep,
                           const RecordSet *rows)
{
    char path[PATH_MAX];
    *output = (ProfileOutput){.settings = settings, .sweep = sweep};
    if (!settings->out_dir) return ST_OK;
    TRY(make_folder(settings->out_dir));
    TRY(file_lock_take_folder(settings->out_dir));
    TRY(output_path(settings->out_dir, record_name, path));
    TRY(check_file(settings, path));
    for (int i = 0; i < sweep->n; i++) TRY(check_cell(output, &sweep->configs[i]));
    return report_sink_open(&output->json, path, "json", rows);
}

/* ---- writing ---- */

static Status write_csv(const ProfileOutput *output, const Config *config, NsysReport report,
                        const Text *text)
{
    char path[PATH_MAX];
    TRY(text_status(text));
    TRY(csv_path(output, config, report, path));
    return text_write_file(path, text_str(text), text->n);
}

static Status write_sums(const ProfileOutput *output, const Config *config, const ProfileView *view)
{
    for (int report = 0; report < NSYS_COUNT; report++) {
        CLEANUP(text_free) Text text = {0};
        if (report == NSYS_TRACE) continue; /* written by profile_output_trace() */
        TRY(nsys_csv_sum(&text, (NsysReport)report, view));
        TRY(write_csv(output, config, (NsysReport)report, &text));
    }
    return ST_OK;
}

/* Finds the config of this record: cells may finish in another order than the sweep's. */
static const Config *config_of(const ProfileOutput *output, const Record *record)
{
    char key[RECORD_KEY_SIZE];
    for (int i = 0; i < output->sweep->n; i++) {
        record_key_of_config(&output->sweep->configs[i], key);
        if (strcmp(key, record_key(record)) == 0) return &output->sweep->configs[i];
    }
    return NULL;
}

static Status write_files(const ProfileOutput *output, const Record *record)
{
    const Config *config = config_of(output, record);
    CLEANUP(profile_view_free) ProfileView view = {0};
    const bool there = json_is_object(json_object_get(record, "profile"));
    if (!config || !there) return ST_OK;
    if (config->ranks > 1 && record_status(record) == RECORD_OK) TRY(merge_ranks(output, config));
    TRY(profile_view_make(&view, record));
    return write_sums(output, config, &view);
}

Status profile_output_add(void *self, Record *record)
{
    ProfileOutput *output = self;
    if (!output->json.path) return ST_OK;
    TRY(write_files(output, record));
    return report_sink_add(&output->json, record);
}

/* Of ranks that died there is no trace, nor of those beside them. */
static Status clear_unfinished(const ProfileOutput *output, const RecordSet *rows)
{
    for (int i = 0; i < output->sweep->n; i++) {
        const Config *config = &output->sweep->configs[i];
        const Record *record = record_set_find_config(rows, config);
        if (config->ranks <= 1 || (record && record_status(record) == RECORD_OK)) continue;
        TRY(clear_ranks(output, config));
    }
    return ST_OK;
}

Status profile_output_clean(const ProfileOutput *output, const RecordSet *rows)
{
    if (!output->json.path) return ST_OK;
    temp_file_remove_stale(output->settings->out_dir);
    return clear_unfinished(output, rows);
}

Status profile_output_finish(ProfileOutput *output, const RecordSet *rows)
{
    const ReportInput input = {.set = rows};
    return output->json.path ? report_sink_finish(&output->json, &input) : ST_OK;
}

void profile_output_close(ProfileOutput *output)
{
    if (output->json.path) report_sink_close(&output->json);
}

/* Every rank has a trace, rank 0 the rest. */
static Status trace_path(const ProfileOutput *output, const CellOpen *cell, char path[PATH_MAX])
{
    const Comm *comm = cell->session->comm;
    char folder[PATH_MAX];
    if (!comm) return path_of(output, cell->config, trace_ending, path);
    TRY(ranks_folder(output, cell->config, folder));
    TRY(make_folder(folder));
    return trace_ranks_path(folder, comm_rank(comm), path, PATH_MAX);
}

Status profile_output_trace(void *self, const CellOpen *cell, const Profiler *profiler)
{
    const ProfileOutput *output = self;
    const Comm *comm = cell->session->comm;
    char path[PATH_MAX];
    CLEANUP(text_free) Text text = {0};
    if (!output->settings->out_dir) return ST_OK;
    TRY(trace_path(output, cell, path));
    TRY(kineto_trace_write(path, cell, profiler, output->settings->source));
    if (comm && comm_rank(comm) > 0) return ST_OK;
    TRY(nsys_csv_trace(&text, profiler));
    return write_csv(output, cell->config, NSYS_TRACE, &text);
}

/* ---- for the ranks of a cell ---- */

static const char *word(char *text, size_t size, const char *option, const char *value)
{
    snprintf(text, size, "--%s=%s", option, value);
    return text;
}

Status profile_output_words(const ProfileOutput *output, const Config *config,
                            ProfileRankWords *words)
{
    const Settings *settings = output->settings;
    char path[PATH_MAX];
    int n = 0;
    snprintf(words->steps, sizeof words->steps, "--trace-steps=%lld",
             (long long)settings->trace_steps);
    words->list[n++] = words->steps;
    if (settings->source) words->list[n++] = "--source";
    if (settings->out_dir) {
        TRY(path_of(output, config, "", path));
        char *name = strrchr(path, '/') + 1;
        name[strlen(name) - 1] = '\0'; /* the _ before an ending */
        words->list[n++] = word(words->folder, sizeof words->folder, "out-dir", settings->out_dir);
        words->list[n++] = word(words->prefix, sizeof words->prefix, "prefix", name);
    }
    words->list[n] = NULL;
    return ST_OK;
}

Status profile_output_read(RecordSet *rows, const char *folder, bool *there)
{
    char path[PATH_MAX];
    struct stat info;
    TRY(output_path(folder, record_name, path));
    *there = stat(path, &info) == 0;
    return *there ? record_file_read(rows, path, NULL) : ST_OK;
}
