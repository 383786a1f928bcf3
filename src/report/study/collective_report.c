#include "report/study/collective_report.h"

#include "base/human.h"
#include "report/format/csv_writer.h"
#include "report/format/table_write.h"
#include "report/records/record_notes.h"

#include <math.h>
#include <string.h>

/* ---- for people ---- */

/* Milliseconds as microseconds: small arrays take a few of them. */
static void time_cell(Table *table, double ms)
{
    table_cell(table, human_us(1e6 * ms).s);
}

/* Half of the interval, as a share of the median. */
static void spread_cell(Table *table, const Record *row)
{
    const double low = record_real(row, "median_low_ms"), high = record_real(row, "median_high_ms");
    const double median = record_real(row, "median_ms");
    table_cell_number(table, "%.1f", 100 * fmax(high - median, median - low) / median);
}

static void put_row(Table *table, const Record *row)
{
    int64_t bytes = 0, ranks = 0;
    record_int(row, "bytes", &bytes);
    record_int(row, "ranks", &ranks);
    table_cell(table, record_text(row, "op"));
    table_cell(table, human_count(bytes).s);
    table_cell(table, human_count(ranks).s);
    table_cell(table, record_text(row, "precision"));
    time_cell(table, record_real(row, "median_ms"));
    spread_cell(table, row);
    table_cell(table, human_number(record_real(row, "algbw_gbs"), 3).s);
    table_cell(table, human_number(record_real(row, "busbw_gbs"), 3).s);
    time_cell(table, record_real(row, "mpi_median_ms"));
    table_cell(table, human_number(record_real(row, "mpi_busbw_gbs"), 3).s);
    table_cell_number(table, "%.2f", record_real(row, "mpi_ratio"));
    table_cell(table, record_status_word(record_status(row)));
}

/* What a row that is not ok says, once for rows that say the same. */
static void put_messages(Table *table, const RecordSet *rows)
{
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        const char *text = record_text(row, "message");
        int64_t bytes = 0, ranks = 0;
        record_int(row, "bytes", &bytes);
        record_int(row, "ranks", &ranks);
        if (text && record_status(row) != RECORD_OK)
            table_note_printf(table, "%s of %s bytes, %lld ranks: %s: %s", record_text(row, "op"),
                              human_count(bytes).s, (long long)ranks,
                              record_status_word(record_status(row)), text);
    }
}

/* The first row that was measured tells of the library. */
static void put_notes(Table *table, const RecordSet *rows)
{
    table_note(table, "time: median of samples, each of as many calls as take 0.2 ms; of a sample "
                      "the slowest rank's time. ±: to the farther end of the 95 % interval");
    table_note(table, "algbw = bytes / time; busbw = algbw x 2(n-1)/n of all_reduce, x (n-1)/n of "
                      "all_gather and reduce_scatter, as nccl-tests define them");
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        const char *mpi = record_text(row, "mpi"), *path = record_text(row, "path");
        const char *nccl = record_text(row, "nccl");
        if (!mpi || !path) continue;
        if (nccl) {
            table_note_printf(table,
                              "through %s (NCCL %s; %s has started the ranks). Every element was "
                              "checked before the first sample",
                              path, nccl, mpi);
            break;
        }
        table_note_printf(table,
                          "ours goes through %s; MPI: the library's own call on the same memory, "
                          "in turn with ours (%s). Every element was checked before the first "
                          "sample",
                          path, mpi);
        break;
    }
    put_messages(table, rows);
    record_notes_common(table, rows);
}

/* ---- the conclusion ---- */

static bool bandwidth_of(const Record *row, double *gbs)
{
    return record_status(row) == RECORD_OK && record_number(row, "busbw_gbs", gbs);
}

static bool of_one_sweep(const Record *a, const Record *b)
{
    static const char *const fields[] = {"op", "ranks", "precision", "device"};
    bool same = true;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        same = same && json_equal(record_value(a, fields[i]), record_value(b, fields[i]));
    return same;
}

typedef struct Widest {
    const Record *row; /* of the largest bus bandwidth; NULL: nothing was measured */
    double gbs;
    int64_t from;       /* the smallest size within 10 % of it, */
    int64_t last;       /* and the largest size */
    double gbs_of_last; /* with its bandwidth */
} Widest;

static Widest widest_of(const RecordSet *rows)
{
    Widest w = {.from = INT64_MAX};
    double gbs;
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        if (bandwidth_of(row, &gbs) && gbs > w.gbs) w.row = row, w.gbs = gbs;
    }
    for (size_t i = 0; i < record_set_size(rows) && w.row; i++) {
        const Record *row = record_set_at(rows, i);
        int64_t bytes = 0;
        record_int(row, "bytes", &bytes);
        if (!of_one_sweep(row, w.row) || !bandwidth_of(row, &gbs)) continue;
        if (gbs >= 0.9 * w.gbs && bytes < w.from) w.from = bytes;
        if (bytes > w.last) w.last = bytes, w.gbs_of_last = gbs;
    }
    return w;
}

static Status conclude(Text *out, const char *format, const RecordSet *rows)
{
    CLEANUP(text_free) Text text = {0};
    const Widest w = widest_of(rows);
    int64_t ranks = 0, bytes = 0;
    if (!w.row) return ST_OK;
    record_int(w.row, "ranks", &ranks);
    record_int(w.row, "bytes", &bytes);
    text_printf(&text,
                "Largest bus bandwidth: %s over %lld ranks, %s GB/s at %s; it is within 10 %% of "
                "that from %s on",
                record_text(w.row, "op"), (long long)ranks, human_number(w.gbs, 3).s,
                human_bytes((double)bytes).s, human_bytes((double)w.from).s);
    if (w.gbs_of_last < 0.9 * w.gbs)
        text_printf(&text, ", and falls to %s GB/s at %s", human_number(w.gbs_of_last, 3).s,
                    human_bytes((double)w.last).s);
    text_puts(&text, ".");
    return table_write_conclusion(out, format, &text);
}

static Status write_table(Text *out, const char *format, const RecordSet *rows)
{
    Table table = {0};
    TABLE_COLUMNS(&table, 1, "op", "bytes", "ranks", "precision", "time (us)", "± (%)",
                  "algbw (GB/s)", "busbw (GB/s)", "MPI (us)", "MPI busbw (GB/s)", "MPI / ours",
                  "status");
    table.title = "Every collective";
    TABLE_SPARE(&table, "MPI busbw (GB/s)", "precision", "± (%)", "algbw (GB/s)", "MPI (us)");
    for (size_t i = 0; i < record_set_size(rows); i++) put_row(&table, record_set_at(rows, i));
    put_notes(&table, rows);
    TRY(table_write_next(out, format, &table));
    return conclude(out, format, rows);
}

/* ---- for programs ---- */

static const char *const columns[] = {
    "op",    "bytes", "ranks",   "device", "precision", "warmup",
    "steps", "seed",  "samples", "status", "message",
#define FIELD(name, kind) #name,
#include "bench/record/collective_fields.def"
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static Status write_csv(Text *out, const RecordSet *rows)
{
    for (int c = 0; c < N_COLUMNS; c++) text_printf(out, "%s%s", c ? "," : "", columns[c]);
    text_puts(out, "\n");
    for (size_t i = 0; i < record_set_size(rows); i++) {
        for (int c = 0; c < N_COLUMNS; c++) {
            if (c > 0) text_puts(out, ",");
            csv_writer_value(out, record_value(record_set_at(rows, i), columns[c]));
        }
        text_puts(out, "\n");
    }
    return text_status(out);
}

Status collective_report_write(Text *out, const char *format, const RecordSet *rows)
{
    if (strcmp(format, "csv") == 0) return write_csv(out, rows);
    if (strncmp(format, "json", 4) == 0)
        return report_write(out, format, &(ReportInput){.set = rows});
    return write_table(out, format, rows);
}
