#include "cli/published/published_reasons.h"

#include "report/records/cell_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

PublishedReasons published_reasons_none(void)
{
    return (PublishedReasons){.others = NAN, .stolen = NAN};
}

const char *published_reasons_word(const Record *record)
{
    const RecordStatus status = record ? record_status(record) : RECORD_TIMEOUT;
    if (status == RECORD_OK) return "";
    return status == RECORD_TIMEOUT ? "no time" : cell_text_status(status);
}

/* ---- rows ---- */

static void take_load(PublishedReasons *reasons, const Record *record)
{
    double others = NAN, stolen = NAN;
    if (record_number(record, "others_percent", &others))
        reasons->others = fmax(reasons->others, others);
    if (record_number(record, "stolen_percent", &stolen))
        reasons->stolen = fmax(reasons->stolen, stolen);
}

static void add_reason(PublishedReasons *reasons, const char *word, const char *label,
                       const char *message)
{
    for (int i = 0; i < reasons->n; i++) {
        PublishedReason *known = &reasons->list[i];
        if (known->word != word || strcmp(known->message, message) != 0) continue;
        known->n++;
        return;
    }
    if (reasons->n == PUBLISHED_MAX_REASONS) {
        reasons->more++;
        return;
    }
    PublishedReason *reason = &reasons->list[reasons->n++];
    *reason = (PublishedReason){.word = word, .n = 1};
    snprintf(reason->label, sizeof reason->label, "%s", label);
    snprintf(reason->message, sizeof reason->message, "%s", message);
}

void published_reasons_add(PublishedReasons *reasons, const char *label, const Record *record)
{
    const char *message = record ? record_text(record, "message") : NULL;
    if (record) take_load(reasons, record);
    if (!record)
        reasons->no_time++;
    else if (record_status(record) != RECORD_OK)
        add_reason(reasons, published_reasons_word(record), label,
                   message ? message : "no reason told");
}

void published_reasons_mark(PublishedReasons *reasons, Table *table, Text *label,
                            const char *remark)
{
    int i = 0;
    if (!remark) return;
    while (i < reasons->marks && strcmp(reasons->remarks[i], remark) != 0) i++;
    if (i == PUBLISHED_MAX_REMARKS) return; /* no table has a quarter of that */
    text_printf(label, " (%d)", i + 1);
    if (i < reasons->marks) return;
    reasons->remarks[reasons->marks++] = remark;
    table_note_printf(table, "(%d) %s", reasons->marks, remark);
}

/* ---- under the table ---- */

static void tell_load(const PublishedReasons *reasons, Table *table)
{
    Text text = {0};
    if (isnan(reasons->others) && isnan(reasons->stolen)) return;
    text_puts(&text, "load on the machine while these rows were measured:");
    if (!isnan(reasons->others))
        text_printf(&text, " other programs had up to %.1f %% of the processors' time%s",
                    reasons->others, isnan(reasons->stolen) ? "" : ",");
    if (!isnan(reasons->stolen))
        text_printf(&text, " other virtual machines up to %.1f %%", reasons->stolen);
    table_note(table, text_str(&text), NULL);
    text_free(&text);
}

void published_reasons_tell(const PublishedReasons *reasons, Table *table)
{
    for (int i = 0; i < reasons->n; i++) {
        const PublishedReason *reason = &reasons->list[i];
        char others[48] = "";
        if (reason->n > 1)
            snprintf(others, sizeof others, " and %d more row%s", reason->n - 1,
                     reason->n > 2 ? "s" : "");
        table_note_printf(table, "%s: %s%s: %s", reason->word, reason->label, others,
                          reason->message);
    }
    if (reasons->more > 0)
        table_note_printf(table, "and %d more row%s that could not be measured", reasons->more,
                          reasons->more > 1 ? "s" : "");
    if (reasons->no_time > 0)
        table_note_printf(
            table,
            "no time: %d row%s; the same command again, or --resume DIR, goes on with "
            "%s; for more time, the same command with a longer --budget",
            reasons->no_time, reasons->no_time > 1 ? "s" : "",
            reasons->no_time > 1 ? "them" : "it");
    if (reasons->estimated > 0)
        table_note(table,
                   "≈: not measured; times are estimates by what the same implementation reached "
                   "here in the nearest row that was measured, memory is the plan's",
                   NULL);
    tell_load(reasons, table);
}
