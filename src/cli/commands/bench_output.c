#include "cli/commands/bench_output.h"

#include "base/file_lock.h"
#include "base/gzip_file.h"
#include "base/log.h"
#include "cli/output.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- files and their formats ---- */

static bool is_json(const char *format)
{
    return strcmp(format, "json") == 0 || strcmp(format, "jsonl") == 0;
}

/* All files are listed before the first is opened: a refused command leaves no file. */
typedef struct Names {
    struct {
        const char *path, *format;
    } file[BENCH_OUTPUT_MAX];
    int n;
} Names;

static Status add_name(Names *names, const char *path, const char *format)
{
    for (int i = 0; i < names->n; i++) {
        if (!file_lock_is_same(names->file[i].path, path)) continue;
        if (strcmp(names->file[i].format, format) == 0) return ST_OK;
        return FAIL(ST_USAGE, "%s cannot hold both %s and %s: give two names", path,
                    names->file[i].format, format);
    }
    names->file[names->n].path = path;
    names->file[names->n++].format = format;
    return ST_OK;
}

/* The report goes to stdout at the very end: detect a full disk now. */
static Status check_stdout(void)
{
    struct stat info;
    struct statvfs disk;
    if (fstat(STDOUT_FILENO, &info) != 0 || !S_ISREG(info.st_mode)) return ST_OK;
    if (fstatvfs(STDOUT_FILENO, &disk) != 0 || disk.f_bavail > 0) return ST_OK;
    return FAIL(ST_IO, "stdout: the disk is full");
}

/* New rows are appended to the resumed file unless the results go to another file. */
static bool appends(const Settings *s)
{
    return s->resume && !s->out_json && !(s->out && is_json(s->format));
}

/* Rows cannot be appended to a gzip file so that a kill leaves it readable. */
Status bench_output_check(const Settings *settings)
{
    if (!appends(settings) || !gzip_file_named(settings->resume)) return ST_OK;
    return FAIL(ST_USAGE,
                "--resume %s: rows cannot be appended to a .gz file; give --out-json FILE for "
                "the results",
                settings->resume);
}

/* A file that is only read needs no lock, but nobody may be writing it. */
Status bench_output_lock_resumed(const Settings *settings)
{
    if (!settings->resume || settings->dry_run) return ST_OK;
    return appends(settings) ? output_take(settings->resume) : file_lock_check(settings->resume);
}

static Status name_files(Names *names, const Settings *s, const char *format)
{
    if (s->out) TRY(add_name(names, s->out, format));
    if (s->out_json) {
        const char *named = report_format_of(s->out_json);
        TRY(add_name(names, s->out_json, named && is_json(named) ? named : "json"));
    }
    if (!appends(s)) return ST_OK;
    const char *named = report_format_of(s->resume);
    return add_name(names, s->resume, named && is_json(named) ? named : "json");
}

static Status open_files(BenchOutput *output, const RecordSet *known)
{
    Names names = {0};
    TRY(name_files(&names, output->settings, output->format));
    if (!output->settings->out) TRY(check_stdout());
    for (int i = 0; i < names.n; i++) {
        TRY(report_sink_open(&output->files[i], names.file[i].path, names.file[i].format, known));
        output->n_files++;
    }
    return ST_OK;
}

Status bench_output_open(BenchOutput *output, const Settings *settings, const RecordSet *known)
{
    *output = (BenchOutput){.settings = settings, .format = settings->format};
    const Status status = open_files(output, known);
    if (status != ST_OK) bench_output_close(output);
    return status;
}

void bench_output_close(BenchOutput *output)
{
    for (int i = 0; i < output->n_files; i++) report_sink_close(&output->files[i]);
    output->n_files = 0;
}

/* ---- results ---- */

Status bench_output_add(void *self, Record *record)
{
    BenchOutput *output = self;
    for (int i = 0; i < output->n_files; i++) TRY(report_sink_add(&output->files[i], record));
    return ST_OK;
}

/* The sweep's rows, then the other rows of the resumed file: no measurement is ever dropped. */
static Status all_rows(RecordSet *all, const RecordSet *rows, const RecordSet *known)
{
    TRY(record_set_merge(all, rows));
    TRY(record_set_keep_others(all, known));
    for (size_t i = 0; i < record_set_size(known); i++) {
        Record *record = record_set_at(known, i);
        const char *key = record_key(record);
        if (!key || !record_set_find(rows, key)) TRY(record_set_share(all, known, record));
    }
    return ST_OK;
}

static Status finish_files(BenchOutput *output, const RecordSet *rows, const RecordSet *all)
{
    for (int i = 0; i < output->n_files; i++) {
        ReportSink *file = &output->files[i];
        const ReportInput input = {.set = is_json(file->format) ? all : rows,
                                   .baseline = output->settings->baseline};
        TRY(report_sink_finish(file, &input));
    }
    return ST_OK;
}

Status bench_output_finish(BenchOutput *output, const RecordSet *rows, const RecordSet *known)
{
    RecordSet all;
    TRY(record_set_init(&all, NULL));
    Status status = all_rows(&all, rows, known);
    if (status == ST_OK) status = finish_files(output, rows, &all);
    record_set_free(&all);
    return status;
}

Status bench_output_print(const BenchOutput *output, const RecordSet *rows)
{
    CLEANUP(text_free) Text text = {0};
    ReportInput input = {.set = rows, .baseline = output->settings->baseline};
    Status status = report_write(&text, output->format, &input);
    if (status != ST_OK && input.baseline) { /* after Ctrl-C its row may be missing */
        log_warning("%s", status_message());
        text_clear(&text);
        input.baseline = NULL;
        status = report_write(&text, output->format, &input);
    }
    if (status == ST_OK) status = output_print(&text);
    return status;
}
