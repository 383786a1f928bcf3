#include "report/study/forecast_report.h"

#include "base/human.h"
#include "bench/record/record.h"
#include "report/format/table_write.h"

#include <math.h>
#include <string.h>

static void put_text(Table *table, const json_t *row, const char *path)
{
    const char *text = record_text(row, path);
    table_cell(table, text ? text : "-");
}

static void put_number(Table *table, const json_t *row, const char *path, double unit)
{
    const double x = record_real(row, path);
    table_cell(table, isfinite(x) ? human_number(unit * x, 4).s : "-");
}

static void put_whole(Table *table, const json_t *row, const char *path)
{
    const double x = record_real(row, path);
    table_cell(table, isfinite(x) ? human_whole(round(x)).s : "-");
}

static void put_interval(Table *table, const json_t *row)
{
    const double low = record_real(row, "forecast.low_ms");
    const double high = record_real(row, "forecast.high_ms");
    if (isfinite(low) && isfinite(high))
        table_cell_printf(table, "%s to %s", human_number(low, 4).s, human_number(high, 4).s);
    else
        table_dashes(table, 1);
}

static void add_row(Table *table, const json_t *row)
{
    static const char *const cell[] = {"limits_of", "as", "size", "precision", "batch", "ctx"};
    for (size_t i = 0; i < 4; i++) put_text(table, row, cell[i]);
    for (size_t i = 4; i < 6; i++) put_whole(table, row, cell[i]);
    put_number(table, row, "forecast.step_ms", 1);
    put_interval(table, row);
    put_whole(table, row, "forecast.tokens_per_s");
    put_number(table, row, "forecast.joules_per_token_at_most", 1);
    put_whole(table, row, "forecast.needed_mib");
    put_number(table, row, "forecast.tokens_per_unit", 1e-6);
    const char *why = record_text(row, "message");
    if (why) table_note_printf(table, "%s", why);
}

Status forecast_report_write(Text *out, const char *format, const json_t *forecasts)
{
    Table table = {.title = "Forecast of every step"};
    size_t i;
    const json_t *row;
    TABLE_COLUMNS(&table, 4, "device", "program", "model", "precision", "batch", "ctx", "step (ms)",
                  "90 % are between (ms)", "tokens/s", "J/token at most", "memory (MiB)",
                  "million tokens for 1");
    json_array_foreach(forecasts, i, row) add_row(&table, row);
    return table_write_next(out, format, &table);
}
