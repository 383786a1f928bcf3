#include "report/findings/missing_results.h"

#include "base/json_text.h"
#include "report/records/cell_text.h"
#include "report/records/measured_phase.h"

static bool is_measured(const Record *record, ResultKind kind)
{
    double ms;
    if (kind == RESULT_CURVE) return json_is_object(record_value(record, "curve"));
    if (kind == RESULT_PROFILE) return json_is_object(record_value(record, "profile"));
    return measured_phase_number(record, "step.mean_ms", &ms) ||
           measured_phase_number(record, "forward.mean_ms", &ms);
}

typedef struct Rows {
    const RecordSet *first; /* with any; NULL: none has */
    size_t n, measured;
} Rows;

static Rows rows_of(const ResultInput *files, int n, ResultKind kind)
{
    Rows rows = {0};
    for (int f = 0; f < n; f++) {
        const RecordSet *set = &files[f].kind[kind];
        if (!rows.first && record_set_size(set) > 0) rows.first = set;
        rows.n += record_set_size(set);
        for (size_t i = 0; i < record_set_size(set); i++)
            rows.measured += is_measured(record_set_at(set, i), kind);
    }
    return rows;
}

/* "tiny: timeout: not done after 2 s", of the first row. */
static void put_why(Text *out, const Rows *rows)
{
    const Record *record = record_set_at(rows->first, 0);
    const char *message = record_text(record, "message");
    result_input_label(out, rows->first, record);
    text_printf(out, ": %s", cell_text_status(record_status(record)));
    if (message) text_printf(out, ": %s", message);
    if (rows->n > 1) text_printf(out, " (%zu more in its table)", rows->n - 1);
}

static Status add_gap(json_t *gaps, ResultKind kind, const Rows *rows)
{
    CLEANUP(text_free) Text why = {0};
    put_why(&why, rows);
    TRY(text_status(&why));
    /* Whose rows they are; page.html names it in data-from. */
    const char *command = kind == RESULT_MODEL ? "bench" : result_input_kind_name(kind);
    json_t *gap =
        json_pack("{s:s, s:o}", "command", command, "why", json_text_string(text_str(&why)));
    return json_array_append_new(gaps, gap) ? NO_MEMORY("for what a page lacks") : ST_OK;
}

Status missing_results_add(json_t *gaps, const ResultInput *files, int n)
{
    for (int kind = 0; kind < RESULT_KINDS; kind++) {
        const Rows rows = rows_of(files, n, (ResultKind)kind);
        if (rows.n > 0 && rows.measured == 0) TRY(add_gap(gaps, (ResultKind)kind, &rows));
    }
    return ST_OK;
}

void missing_results_sentence(Text *out, const json_t *gap)
{
    text_printf(out, "%s: %s: %s.", json_object_get(gap, "cut_short") ? "Incomplete" : "Missing",
                record_text(gap, "part"), record_text(gap, "why"));
}
