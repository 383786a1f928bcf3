#include "cli/commands/bench_output.h"

#include "base/file_lock.h"
#include "base/gzip_file.h"
#include "base/log.h"
#include "cli/output.h"

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
    const char *path[BENCH_OUTPUT_MAX], *format[BENCH_OUTPUT_MAX];
    int n;
} Names;

static Status add_name(Names *names, const char *path, const char *format)
{
    for (int i = 0; i < names->n; i++) {
        if (!file_lock_is_same(names->path[i], path)) continue;
        if (strcmp(names->format[i], format) == 0) return ST_OK;
        return FAIL(ST_USAGE, "%s cannot hold both %s and %s: give two names", path,
                    names->format[i], format);
    }
    names->path[names->n] = path;
    names->format[names->n++] = format;
    return ST_OK;
}

/* A file of rows whose name is no format of rows is JSON. */
static Status add_rows(Names *names, const char *path)
{
    const char *named = report_format_of(path);
    return add_name(names, path, named && is_json(named) ? named : "json");
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

static Status name_files(Names *names, const Settings *s)
{
    if (s->out) TRY(add_name(names, s->out, s->format));
    if (s->out_json) TRY(add_rows(names, s->out_json));
    return appends(s) ? add_rows(names, s->resume) : ST_OK;
}

Status bench_output_open(BenchOutput *output, const Settings *settings, const RecordSet *known)
{
    Names names = {0};
    *output = (BenchOutput){.settings = settings};
    TRY(name_files(&names, settings));
    if (!settings->out) TRY(check_stdout());
    for (; output->n_files < names.n; output->n_files++)
        TRY(report_sink_open(&output->files[output->n_files], names.path[output->n_files],
                             names.format[output->n_files], known));
    return ST_OK;
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
    CLEANUP(record_set_free) RecordSet all = {0};
    TRY(record_set_init(&all, NULL));
    TRY(all_rows(&all, rows, known));
    return finish_files(output, rows, &all);
}

Status bench_output_print(const BenchOutput *output, const RecordSet *rows)
{
    CLEANUP(text_free) Text text = {0};
    const char *format = output->settings->format;
    ReportInput input = {.set = rows, .baseline = output->settings->baseline};
    Status status = report_write(&text, format, &input);
    if (status != ST_OK && input.baseline) { /* after Ctrl-C its row may be missing */
        log_warning("%s", status_message());
        text_clear(&text);
        input.baseline = NULL;
        status = report_write(&text, format, &input);
    }
    return status == ST_OK ? output_print(&text) : status;
}
