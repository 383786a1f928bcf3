#include "bench/measure/cell_link.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/json_text.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double send_every = 0.1; /* seconds */

void cell_link_open(CellLink *link, int fd)
{
    *link = (CellLink){.fd = fd};
}

void cell_link_close(CellLink *link)
{
    text_free(&link->pending);
}

/* Takes the message over. */
static Status append(CellLink *link, json_t *message)
{
    CLEANUP(array_free) char *text = message ? record_dump(message) : NULL;
    json_decref(message);
    if (!text) return NO_MEMORY("for a message");
    text_printf(&link->pending, "%s\n", text);
    return text_status(&link->pending);
}

static Status flush(CellLink *link)
{
    const bool sent = child_write(link->fd, text_str(&link->pending), link->pending.n);
    text_clear(&link->pending);
    link->sent_at = clock_seconds();
    return sent ? ST_OK : FAIL(ST_FAILED, "the process that started this cell is gone");
}

static Status send_message(CellLink *link, json_t *message)
{
    TRY(append(link, message));
    return flush(link);
}

Status cell_link_stage(CellLink *link, const char *what, int64_t done, int64_t of)
{
    TRY(append(link, json_pack("{s:s, s:I, s:I}", "stage", what, "done", (json_int_t)done, "of",
                               (json_int_t)of)));
    const bool same = strcmp(link->stage, what) == 0;
    if (same && clock_seconds() - link->sent_at < send_every) return ST_OK;
    snprintf(link->stage, sizeof link->stage, "%s", what);
    return flush(link);
}

Status cell_link_facts(CellLink *link, const Record *facts)
{
    return send_message(link, json_pack("{s:O}", "facts", facts));
}

Status cell_link_sample(CellLink *link, const Sample *sample)
{
    json_t *times = json_object();
    for (int s = 0; s < SAMPLE_COUNT; s++) {
        if (isnan(sample->seconds[s])) continue;
        json_object_set_new(times, sample_series_name((SampleSeries)s),
                            json_real(sample->seconds[s]));
    }
    return append(link, json_pack("{s:o}", "sample", times));
}

Status cell_link_warning(CellLink *link, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return send_message(link, json_pack("{s:o}", "warning", json_text_string(text)));
}

Status cell_link_next(CellLink *link, int cell)
{
    return send_message(link, json_pack("{s:i}", "next", cell));
}

Status cell_link_end(CellLink *link, RecordStatus status, const char *message)
{
    const char *word = record_status_word(status);
    return send_message(
        link, message ? json_pack("{s:s, s:o}", "end", word, "message", json_text_string(message))
                      : json_pack("{s:s}", "end", word));
}

Status cell_link_fail(CellLink *link, Status failure)
{
    const RecordStatus status = failure == ST_NO_MEMORY     ? RECORD_OOM
                                : failure == ST_UNSUPPORTED ? RECORD_UNSUPPORTED
                                                            : RECORD_FAILED;
    return cell_link_end(link, status, status_message());
}

RecordStatus cell_link_status_of(const ChildResult *end)
{
    switch (end->end) {
    case CHILD_TIMED_OUT:
        return RECORD_TIMEOUT;
    case CHILD_INTERRUPTED:
        return RECORD_KILLED;
    case CHILD_SIGNALLED: /* the first two from outside */
        return end->code == SIGKILL || end->code == SIGXCPU ? RECORD_KILLED : RECORD_FAILED;
    case CHILD_FLOODED:
    case CHILD_ENDED:
        return RECORD_FAILED;
    case CHILD_RETURNED:
        break;
    }
    return end->code == 0 ? RECORD_OK : RECORD_FAILED;
}
