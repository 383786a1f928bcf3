#include "report/records/report_sink.h"

#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_lines(const ReportSink *sink)
{
    return strcmp(sink->format, "jsonl") == 0;
}

static bool is_stream(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) return false;
    if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) return true;
    if (!S_ISCHR(info.st_mode)) return false;
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    const bool terminal = fd >= 0 && isatty(fd);
    if (fd >= 0) close(fd);
    return terminal;
}

static Status cannot(const ReportSink *sink)
{
    return FAIL(ST_IO, "cannot write %s: %s", sink->path, strerror(errno));
}

/* ---- writing ---- */

static Status write_whole(ReportSink *sink, const ReportInput *input)
{
    CLEANUP(text_free) Text text = {0};
    TRY(report_write(&text, sink->format, input));
    return text_write_file(sink->path, text_str(&text), text.n);
}

/* All of it and synced, or the file as it was: a line cut short by a full disk would otherwise run
 * into the next. */
static Status append(const ReportSink *sink, const char *bytes, size_t n)
{
    const off_t end = lseek(sink->fd, 0, SEEK_END); /* -1 for a pipe */
    while (n > 0) {
        const ssize_t written = write(sink->fd, bytes, n);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            const Status status = cannot(sink);
            const bool restored = end < 0 || ftruncate(sink->fd, end) == 0;
            if (!restored) status_context("its last line is cut short");
            return status;
        }
        bytes += written;
        n -= (size_t)written;
    }
    /* What is no file cannot be synced, and need not be. */
    if (fsync(sink->fd) != 0 && errno != EINVAL && errno != EROFS) return cannot(sink);
    return ST_OK;
}

static Status start_file(ReportSink *sink)
{
    const ReportInput input = {.set = &sink->set};
    if (sink->stream && !is_lines(sink)) return ST_OK;
    if (!sink->stream) TRY(write_whole(sink, &input));
    if (!is_lines(sink)) return ST_OK;
    sink->fd = open(sink->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (sink->fd < 0) return cannot(sink);
    if (!sink->stream) return ST_OK;
    CLEANUP(text_free) Text text = {0};
    TRY(report_write(&text, sink->format, &input));
    return append(sink, text_str(&text), text.n);
}

static bool has_older(const ReportSink *sink)
{
    struct stat info;
    if (sink->stream || record_set_size(&sink->set) > 0) return false;
    return stat(sink->path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

/* Everything but the renaming: a full disk is found, and the older file is still there. */
static Status try_temporary(const ReportSink *sink)
{
    CLEANUP(text_free) Text text = {0};
    AtomicFile file;
    TRY(report_write(&text, sink->format, &(ReportInput){.set = &sink->set}));
    TRY(atomic_file_open(&file, sink->path));
    const Status status = atomic_file_write(&file, text_str(&text), text.n);
    atomic_file_abandon(&file);
    return status;
}

static Status begin(ReportSink *sink, const RecordSet *start)
{
    TRY(record_set_init(&sink->set, NULL));
    if (!sink->path || !sink->format) return NO_MEMORY("for a report");
    TRY(record_set_merge(&sink->set, start));
    sink->stream = is_stream(sink->path);
    sink->waits = has_older(sink);
    return sink->waits ? try_temporary(sink) : start_file(sink);
}

Status report_sink_open(ReportSink *sink, const char *path, const char *format,
                        const RecordSet *start)
{
    *sink = (ReportSink){.path = strdup(path), .format = strdup(format), .fd = -1};
    const Status status = begin(sink, start);
    if (status != ST_OK) report_sink_close(sink);
    return status;
}

Status report_sink_add(ReportSink *sink, Record *record)
{
    if (sink->waits && is_lines(sink)) TRY(start_file(sink));
    sink->waits = false;
    TRY(record_set_add(&sink->set, record));
    if (sink->fd < 0) {
        return sink->stream ? ST_OK : write_whole(sink, &(ReportInput){.set = &sink->set});
    }
    CLEANUP(text_free) Text line = {0};
    TRY(record_file_line(&line, record));
    return append(sink, text_str(&line), line.n);
}

Status report_sink_finish(ReportSink *sink, const ReportInput *all)
{
    if (sink->waits || (sink->stream && is_lines(sink))) return ST_OK;
    return write_whole(sink, all);
}

void report_sink_close(ReportSink *sink)
{
    if (sink->fd >= 0) close(sink->fd);
    free(sink->path);
    free(sink->format);
    record_set_free(&sink->set);
    *sink = (ReportSink){.fd = -1};
}
