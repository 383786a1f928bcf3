#include "bench/measure/rank_report.h"

#include "base/json_text.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char mark[] = "roofstep-rank ";

void rank_report_print(const RankReport *report)
{
    CLEANUP(text_free) Text line = {0};
    json_t *json = json_pack("{s:i, s:s, s:i, s:o}", "rank", report->rank, "end",
                             record_status_word(report->status), "state", (int)report->state,
                             "message", json_text_string(report->text));
    char *text = json ? record_dump(json) : NULL;
    json_decref(json);
    text_printf(&line, "%s%s\n", mark, text ? text : "");
    free(text);
    (void)child_write(STDERR_FILENO, text_str(&line), line.n); /* nobody else could be told */
}

bool rank_report_read(const char *line, RankReport *report)
{
    CLEANUP(json_text_free) json_t *json = NULL;
    const char *begin = strstr(line, mark); /* after what another rank did not end its line with */
    if (!begin) return false;
    json = json_loads(begin + strlen(mark), 0, NULL);
    const char *word = record_text(json, "end"), *text = record_text(json, "message");
    int64_t rank = -1, state = 0;
    if (!word || !text || !record_int(json, "rank", &rank) || !record_int(json, "state", &state))
        return false;
    if (rank < 0 || state < RANK_GONE || state > RANK_WAITING) return false;
    *report = (RankReport){(int)rank, record_status_find(word), (RankState)state, ""};
    snprintf(report->text, sizeof report->text, "%s", text);
    return report->status != RECORD_STATUS_COUNT;
}

/* ---- all of them ---- */

/* A rank that died makes calls of others fail, and makes others late. */
static int weight(const RankReport *report)
{
    switch (report->status) {
    case RECORD_KILLED:
    case RECORD_OOM:
        return 4;
    case RECORD_FAILED:
        return 3;
    case RECORD_UNSUPPORTED:
        return 2;
    default:
        return 1;
    }
}

/* "rank 1", "ranks 0 and 2", "all ranks": those that are late in this state. */
static int name_ranks(Text *out, const RankReport *reports, int n, int ranks, RankState state)
{
    int count = 0, named = 0;
    for (int i = 0; i < n; i++) count += reports[i].state == state;
    if (count == ranks) text_puts(out, ranks == 1 ? "the rank" : "all ranks");
    for (int i = 0; i < n && count < ranks; i++) {
        if (reports[i].state != state) continue;
        const char *before = named == 0           ? count == 1 ? "rank " : "ranks "
                             : named == count - 1 ? " and "
                                                  : ", ";
        text_printf(out, "%s%d", before, reports[i].rank);
        named++;
    }
    return count;
}

/* The others wait for those whose state is named first. */
static void put_late(Text *out, const RankReport *reports, int n, int ranks)
{
    static const struct {
        RankState state;
        const char *one, *many;
    } states[] = {{RANK_STOPPED, "is stopped (SIGSTOP)", "are stopped (SIGSTOP)"},
                  {RANK_BUSY, "is still at work", "are still at work"},
                  {RANK_STARTING, "waits for the others to start", "wait for each other to start"},
                  {RANK_WAITING, "waits in a collective", "wait in a collective"}};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        CLEANUP(text_free) Text names = {0};
        const int count = name_ranks(&names, reports, n, ranks, states[i].state);
        if (count == 0) continue;
        text_printf(out, "%s %s", text_str(&names), count == 1 ? states[i].one : states[i].many);
        return;
    }
    text_puts(out, "no rank has said why");
}

RecordStatus rank_report_judge(const RankReport *reports, int n, int ranks, double timeout,
                               char text[RANK_REPORT_TEXT])
{
    CLEANUP(text_free) Text late = {0};
    const RankReport *worst = NULL;
    for (int i = 0; i < n; i++) {
        if (!worst || weight(&reports[i]) > weight(worst)) worst = &reports[i];
    }
    if (worst && worst->status != RECORD_TIMEOUT) {
        snprintf(text, RANK_REPORT_TEXT, "rank %d of %d: %s", worst->rank, ranks, worst->text);
        return worst->status;
    }
    put_late(&late, reports, n, ranks);
    snprintf(text, RANK_REPORT_TEXT, "not done after %.3g s: %s; --timeout gives it longer",
             timeout, text_str(&late));
    return RECORD_TIMEOUT;
}
