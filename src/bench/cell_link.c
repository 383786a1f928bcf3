#include "bench/cell_link.h"

#include "bench/child.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the message over. */
static Status send_message(const CellLink *link, json_t *message)
{
    char *text = message ? record_dump(message) : NULL;
    json_decref(message);
    if (!text) return FAIL(ST_NO_MEMORY, "no memory for a message");
    const size_t n = strlen(text);
    text[n] =
        '\n'; /* in place of its NUL: a line is one write, so it arrives whole or not at all */
    const bool sent = child_write(link->fd, text, n + 1);
    free(text);
    return sent ? ST_OK : FAIL(ST_FAILED, "the process that started this cell is gone");
}

/* Through record_put_text, which repairs what is not UTF-8. A NULL text is left out. */
static Status send_texts(const CellLink *link, const char *name, const char *text,
                         const char *name2, const char *text2)
{
    json_t *message = json_object();
    if (message && record_put_text(message, name, text) == ST_OK &&
        (!text2 || record_put_text(message, name2, text2) == ST_OK)) {
        return send_message(link, message);
    }
    json_decref(message);
    return FAIL(ST_NO_MEMORY, "no memory for a message");
}

Status cell_link_stage(const CellLink *link, const char *what, int64_t done, int64_t of)
{
    return send_message(link, json_pack("{s:s, s:I, s:I}", "stage", what, "done", (json_int_t)done,
                                        "of", (json_int_t)of));
}

Status cell_link_facts(const CellLink *link, const Record *facts)
{
    return send_message(link, json_pack("{s:O}", "facts", facts));
}

Status cell_link_sample(const CellLink *link, const Sample *sample)
{
    json_t *times = json_object();
    for (int s = 0; s < SAMPLE_COUNT; s++) {
        if (isnan(sample->seconds[s])) continue;
        json_object_set_new(times, sample_series_name((SampleSeries)s),
                            json_real(sample->seconds[s]));
    }
    return send_message(link, json_pack("{s:o}", "sample", times));
}

Status cell_link_warning(const CellLink *link, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return send_texts(link, "warning", text, NULL, NULL);
}

Status cell_link_end(const CellLink *link, RecordStatus status, const char *message)
{
    return send_texts(link, "end", record_status_word(status), "message", message);
}
