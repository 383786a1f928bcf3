#include "cli/output.h"

#include "base/atomic_file.h"
#include "base/escape.h"
#include "base/file_lock.h"
#include "base/gzip_file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/temp_file.h"
#include "base/terminal.h"
#include "bench/record/environment.h"
#include "config/option_value.h"
#include "prof/ranges_nvtx.h"
#include "report/format/table_md.h"
#include "report/format/table_write.h"
#include "report/page/page.h"
#include "report/records/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "-" is stdout. A command whose result is not text handles "-" itself. */
static Status take_dash(Settings *settings, const OptionSet *options)
{
    const bool text = option_takes(options, OPTION_FORMAT);
    if (text && settings->out && strcmp(settings->out, "-") == 0) settings->out = NULL;
    if (!settings->out_json) return ST_OK;
    if (strcmp(settings->out_json, "-") == 0)
        return FAIL(ST_USAGE, "--out-json needs a file; for JSON on stdout say --format json");
    if (!gzip_file_named(settings->out_json)) return ST_OK;
    return FAIL(
        ST_USAGE,
        "--out-json %s: rows are appended as they finish, which gzip cannot do; name it .json",
        settings->out_json);
}

/* A table printed without --format is for reading on the terminal: hide columns that do not fit. */
static void fit_terminal(const Settings *settings, const OptionSet *options)
{
    const bool shown =
        option_takes(options, OPTION_FORMAT) && !settings->out && !settings->given[OPTION_FORMAT];
    if (shown) table_md_fit((size_t)terminal_columns(STDOUT_FILENO));
}

/* ".json"; NULL where the name has none. */
static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot > name && dot[1] ? dot : NULL;
}

static bool is_device(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* A pipe or device may have any name, and .txt names no format. */
static bool may_be_any(const char *path, const char *ending)
{
    return !ending || strcmp(ending, ".txt") == 0 || is_device(path);
}

/* The file would not hold what its ending promises. */
static Status refuse_ending(const Settings *settings, const OptionSet *options, const char *ending)
{
    CLEANUP(text_free) Text endings = {0};
    const bool formats = option_takes(options, OPTION_FORMAT);
    const bool chart = option_takes(options, OPTION_SVG) && strcmp(ending, ".svg") == 0;
    if (options->formats) report_endings(&endings, options->formats);
    if (options->out) text_puts(&endings, ending_of(options->out));
    return FAIL(ST_USAGE, "--out %s: no format has the ending %s; use %s%s%s", settings->out,
                ending, text_str(&endings), formats ? ", or any name with --format" : "",
                chart ? "; --svg FILE writes the chart" : "");
}

static Status take_ending(Settings *settings, const OptionSet *options)
{
    const char *ending = ending_of(settings->out);
    const char *named = report_format_of(settings->out);
    if (options->out && ending && strcmp(ending, ending_of(options->out)) == 0) return ST_OK;
    if (named && options->formats &&
        option_value_read_format(options, named, settings->format) == ST_OK) {
        return ST_OK;
    }
    return may_be_any(settings->out, ending) ? ST_OK : refuse_ending(settings, options, ending);
}

Status output_choose_format(Settings *settings, const OptionSet *options)
{
    TRY(take_dash(settings, options));
    fit_terminal(settings, options);
    if (!settings->out || settings->given[OPTION_FORMAT]) return ST_OK;
    return take_ending(settings, options);
}

/* NULL: "-", stdout. */
static const char *out_of(const Settings *settings, const OptionSet *options)
{
    const char *out = settings->out ? settings->out : settings->tables ? NULL : options->out;
    return out && strcmp(out, "-") == 0 ? NULL : out;
}

Status output_take(const char *path)
{
    TRY(file_lock_take(path));
    temp_file_remove_stale_of(path);
    return ST_OK;
}

Status output_lock(const Settings *settings, const OptionSet *options)
{
    const struct {
        OptionId id;
        const char *path;
    } files[] = {{OPTION_OUT, out_of(settings, options)},
                 {OPTION_OUT_JSON, settings->out_json},
                 {OPTION_SNAPSHOT, settings->snapshot},
                 {OPTION_SVG, settings->svg}};
    enum { N = sizeof files / sizeof *files };
    if (settings->dry_run) return ST_OK;
    for (int i = 0; i < N; i++) {
        if (!files[i].path) continue;
        for (int j = 0; j < i; j++) {
            /* --out and --out-json may name one file: bench_output.c writes it once */
            const bool shared = files[j].id == OPTION_OUT && files[i].id == OPTION_OUT_JSON;
            if (!files[j].path || shared) continue;
            if (file_lock_is_same(files[i].path, files[j].path) && !is_device(files[i].path))
                return FAIL(ST_USAGE, "--%s and --%s both name %s: give two names",
                            option_table[files[j].id].name, option_table[files[i].id].name,
                            files[i].path);
        }
        TRY(output_take(files[i].path));
    }
    return ST_OK;
}

Status output_check_nvtx(const Settings *settings)
{
    if (!settings->nvtx && !settings->annotate_mha) return ST_OK;
    if (ranges_nvtx_check() == ST_OK) return ST_OK;
    status_context("--%s", settings->nvtx ? "nvtx" : "annotate-mha");
    return ST_USAGE;
}

Status output_check_path(const char *path)
{
    AtomicFile file;
    if (!path) return ST_OK;
    TRY(atomic_file_open(&file, path));
    atomic_file_abandon(&file);
    return ST_OK;
}

Status output_check_file(const Settings *settings)
{
    struct stat info;
    if (!settings->out) return ST_OK;
    const bool there = stat(settings->out, &info) == 0;
    if (there && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return ST_OK;
    return output_check_path(settings->out);
}

Status output_path(const char *folder, const char *name, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX) return ST_OK;
    return FAIL(ST_USAGE, "the path of the folder for the results is too long");
}

Status output_rows_init(RecordSet *rows, const Settings *settings)
{
    CLEANUP(json_text_free) json_t *environment = NULL;
    TRY(environment_new(&environment, settings->command_line));
    return record_set_init(rows, environment);
}

Status output_print(const Text *text)
{
    CLEANUP(text_free) Text screen = {0};
    TRY(text_status(text));
    escape_put(&screen, ESCAPE_SCREEN, text_str(text));
    TRY(text_status(&screen));
    fputs(text_str(&screen), stdout); /* main() sees whether it got there */
    return ST_OK;
}

Status output_text(const Settings *settings, const Text *text)
{
    TRY(text_status(text));
    if (settings->out) return text_write_file(settings->out, text_str(text), text->n);
    return output_print(text);
}

Status output_finish(const Settings *settings, Text *text, Status made)
{
    const Status status = made == ST_OK ? output_text(settings, text) : made;
    text_free(text);
    return status;
}

Status output_table(Table *table, Status made)
{
    CLEANUP(text_free) Text text = {0};
    if (made == ST_OK) made = table_write(&text, "md", table);
    if (made == ST_OK) made = output_print(&text);
    table_free(table);
    return made;
}

Status output_whole(void)
{
    if (!status_ran_out_of_memory()) return ST_OK;
    return FAIL(ST_NO_MEMORY, "out of memory: the output is incomplete");
}

void output_tell_page(const char *path)
{
    char whole[PATH_MAX];
    CLEANUP(text_free) Text quoted = {0};
    escape_shell(&quoted, path);
    fflush(stdout);
    log_note("report: %s (open it in a browser: xdg-open %s; one file, no network needed)",
             realpath(path, whole) ? whole : path, text_str(&quoted));
}

void output_tell_folder(const char *folder)
{
    char path[PATH_MAX];
    if (!page_is_built()) {
        fflush(stdout);
        log_note(
            "this build writes no HTML report: npm could not fetch the charts at build time; in a "
            "build with charts run: roofstep report %s/results.json --out index.html",
            folder);
    } else if (output_path(folder, "index.html", path) == ST_OK) {
        output_tell_page(path);
    }
}

Status output_json(Text *text, const json_t *json)
{
    json_text_put(text, json, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
    text_puts(text, "\n");
    return text_status(text);
}
