#include "report/study/curve_report.h"

#include "base/human.h"
#include "report/format/csv_writer.h"
#include "report/format/table_write.h"
#include "report/records/cell_text.h"
#include "report/records/record_notes.h"
#include "report/records/report.h"
#include "report/study/precision_errors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const json_t *curve_of(const Record *row)
{
    return record_value(row, "curve");
}

static const char *peer_of(const Record *row)
{
    return record_text(row, "peer");
}

/* "fp16, unscaled", whoever trains. */
static PrecisionName work_of(const Record *row)
{
    PrecisionName name = precision_errors_name(row);
    const char *scale = record_text(row, "loss_scale");
    const size_t n = strlen(name.s);
    if (strcmp(name.s, "fp16") == 0 && scale && strcmp(scale, "none") == 0)
        snprintf(name.s + n, sizeof name.s - n, ", unscaled");
    return name;
}

/* "fp16, unscaled, PyTorch"; "bf16, PyTorch best" */
static PrecisionName name_of(const Record *row)
{
    PrecisionName name = work_of(row);
    const char *peer = peer_of(row), *variant = record_text(row, "variant");
    const size_t n = strlen(name.s);
    if (!peer) return name;
    const bool usual = !variant || strcmp(variant, "eager") == 0;
    snprintf(name.s + n, sizeof name.s - n, ", %.8s%s%.10s",
             strcmp(peer, "torch") == 0 ? "PyTorch" : peer, usual ? "" : " ", usual ? "" : variant);
    return name;
}

/* Of ours. */
static const Record *fp32_of(const RecordSet *rows)
{
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        if (peer_of(row) || !curve_of(row)) continue;
        if (strcmp(precision_errors_name(row).s, "fp32") == 0) return row;
    }
    return NULL;
}

/* Ours of the same precision as a peer's row, which comes after it. */
static const Record *ours_of(const RecordSet *rows, size_t of)
{
    const PrecisionName work = work_of(record_set_at(rows, of));
    for (size_t i = of; i-- > 0;) {
        const Record *row = record_set_at(rows, i);
        if (!peer_of(row) && strcmp(work_of(row).s, work.s) == 0) return row;
    }
    return NULL;
}

static bool has_peers(const RecordSet *rows)
{
    for (size_t i = 0; i < record_set_size(rows); i++)
        if (peer_of(record_set_at(rows, i))) return true;
    return false;
}

/* ---- the loss as it goes ---- */

static int64_t steps_of(const RecordSet *rows)
{
    size_t most = 0;
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const size_t n =
            json_array_size(json_object_get(curve_of(record_set_at(rows, i)), "losses"));
        most = n > most ? n : most;
    }
    return (int64_t)most;
}

/* The mean loss of steps first + 1 to last; NAN where one is missing. */
static double mean_loss(const Record *row, int64_t first, int64_t last)
{
    const json_t *losses = json_object_get(curve_of(row), "losses");
    double sum = 0;
    for (int64_t s = first; s < last; s++) {
        const json_t *loss = json_array_get(losses, (size_t)s);
        if (!json_is_number(loss)) return NAN;
        sum += json_number_value(loss);
    }
    return sum / (double)(last - first);
}

static void losses(Table *table, const RecordSet *rows)
{
    enum { PARTS = 10 };
    const int64_t steps = steps_of(rows), parts = steps < PARTS ? steps : PARTS;
    table->title = "Mean loss over the steps";
    table_column(table, "mean loss of steps", "", false);
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        if (curve_of(row)) table_column(table, name_of(row).s, "", true);
    }
    for (int64_t p = 0; p < parts; p++) {
        const int64_t first = p * steps / parts, last = (p + 1) * steps / parts;
        table_cell_printf(table, "%lld to %lld", (long long)first + 1, (long long)last);
        for (size_t i = 0; i < record_set_size(rows); i++) {
            const Record *row = record_set_at(rows, i);
            if (curve_of(row)) table_cell_number(table, "%.4f", mean_loss(row, first, last));
        }
    }
}

/* Of the curve that has read most. */
static void note_text(Table *table, const RecordSet *rows)
{
    const json_t *most = NULL;
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const json_t *text = json_object_get(curve_of(record_set_at(rows, i)), "text");
        if (!record_text(text, "source")) continue;
        if (!most || precision_errors_count(text, "used") > precision_errors_count(most, "used"))
            most = text;
    }
    if (!most) return;
    const int64_t used = precision_errors_count(most, "used");
    const int64_t windows = precision_errors_count(most, "windows");
    table_note_printf(table, "text: %s, %s, %s windows, of which %s were read%s",
                      record_text(most, "source"),
                      human_bytes(json_number_value(json_object_get(most, "bytes"))).s,
                      human_count(windows).s, human_count(used < windows ? used : windows).s,
                      used > windows ? ", some more than once" : ", none twice");
}

/* ---- what it came to ---- */

static void difference_cell(Table *table, const Record *row, const Record *base)
{
    const json_t *a = json_object_get(curve_of(row), "mean");
    const json_t *b = base ? json_object_get(curve_of(base), "mean") : NULL;
    const bool known = json_is_number(a) && json_is_number(b) && row != base;
    if (known)
        table_cell_printf(table, "%+.2f %%",
                          100 * (json_number_value(a) / json_number_value(b) - 1));
    else
        table_cell(table, "-");
}

/* With `peers`, theirs against ours, too. */
static void outcome_row(Table *table, const RecordSet *rows, size_t index, bool peers)
{
    const Record *row = record_set_at(rows, index);
    const json_t *curve = curve_of(row), *mean = json_object_get(curve, "mean");
    const int64_t diverged = precision_errors_count(curve, "diverged_at");
    const char *message = record_text(row, "message");
    const bool emulated = record_text(row, "emulated") && record_status(row) == RECORD_OK;
    table_cell(table, name_of(row).s);
    table_cell_number(table, "%.4f", curve ? mean_loss(row, 0, 1) : NAN);
    table_cell_number(table, "%.4f", json_is_number(mean) ? json_number_value(mean) : NAN);
    difference_cell(table, row, fp32_of(rows));
    if (peers) difference_cell(table, row, peer_of(row) ? ours_of(rows, index) : NULL);
    if (diverged > 0)
        table_cell_printf(table, "at step %lld", (long long)diverged);
    else
        table_cell(table, curve ? "no" : "-");
    table_cell_number(table, "%.0f", curve ? record_real(row, "skipped_steps") : NAN);
    table_cell(table, emulated ? "emulated" : cell_text_status(record_status(row)));
    if (message) table_note_printf(table, "%s: %s", name_of(row).s, message);
    precision_errors_note_left(table, row);
}

static void outcome(Table *table, const RecordSet *rows)
{
    const bool peers = has_peers(rows);
    char last[40] = "last steps";
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const json_t *curve = curve_of(record_set_at(rows, i));
        if (!curve) continue;
        snprintf(last, sizeof last, "mean of the last %lld",
                 (long long)precision_errors_count(curve, "last"));
    }
    table->title = "How each precision ends";
    TABLE_COLUMNS(table, 1, "precision", "first loss", last, "against fp32");
    if (peers) table_column(table, "against ours", "", true);
    table_column(table, "diverged", "", true);
    table_column(table, "skipped steps", "", true);
    table_column(table, "status", "", false);
    for (size_t i = 0; i < record_set_size(rows); i++) outcome_row(table, rows, i, peers);
    if (peers) table_note(table, "against ours: of the same precision; against fp32: ours");
    table_note(
        table,
        "all from the same start on the same batches; diverged: a loss that is no "
        "number, a mean of ten steps 1 above the lowest before it, or no step that is not skipped");
    note_text(table, rows);
    record_notes_common(table, rows);
}

/* Of the curves beside fp32 the one that ends farthest from it, and how many diverged. */
static Status conclude(Text *out, const char *format, const RecordSet *rows)
{
    CLEANUP(text_free) Text text = {0};
    const Record *fp32 = fp32_of(rows), *farthest = NULL;
    const json_t *base = fp32 ? json_object_get(curve_of(fp32), "mean") : NULL;
    double most = 0;
    int diverged = 0, all = 0;
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        const json_t *mean = json_object_get(curve_of(row), "mean");
        all += curve_of(row) != NULL;
        diverged += precision_errors_count(curve_of(row), "diverged_at") > 0;
        if (row == fp32 || !json_is_number(mean) || !json_is_number(base)) continue;
        const double off = json_number_value(mean) / json_number_value(base) - 1;
        if (farthest && fabs(off) <= fabs(most)) continue;
        most = off, farthest = row;
    }
    if (all == 0) return ST_OK;
    if (farthest)
        text_printf(&text, "Farthest from fp32: %s, whose last losses are %+.2f %% off; ",
                    name_of(farthest).s, 100 * most);
    text_printf(&text, "%d of %d %s diverged.", diverged, all, all == 1 ? "curve" : "curves");
    return table_write_conclusion(out, format, &text);
}

/* ---- formats ---- */

static Status write_csv(Text *out, const RecordSet *rows)
{
    text_puts(out, "precision,step,loss\n");
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        const json_t *list = json_object_get(curve_of(row), "losses");
        for (size_t s = 0; s < json_array_size(list); s++) {
            const json_t *loss = json_array_get(list, s);
            csv_writer_field(out, name_of(row).s);
            text_printf(out, ",%zu,", s + 1);
            if (json_is_number(loss)) text_printf(out, "%.9g", json_number_value(loss));
            text_puts(out, "\n");
        }
    }
    return text_status(out);
}

Status curve_report_write(Text *out, const char *format, const RecordSet *rows)
{
    Table table = {0};
    if (strcmp(format, "json") == 0) return report_write(out, format, &(ReportInput){.set = rows});
    if (strcmp(format, "csv") == 0) return write_csv(out, rows);
    losses(&table, rows);
    TRY(table_write_next(out, format, &table));
    outcome(&table, rows);
    TRY(table_write_next(out, format, &table));
    return conclude(out, format, rows);
}
