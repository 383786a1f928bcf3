#include "report/records/cell_text.h"

#include "base/human.h"
#include "bench/record/record_stat.h"
#include "report/records/measured_phase.h"

#include <math.h>
#include <string.h>

const char *cell_text_status(RecordStatus status)
{
    return status == RECORD_OOM ? "OOM" : record_status_word(status);
}

/* ---- a kind of column each; nothing where the record has no value ---- */

static void put_time(Text *out, const Column *column, const Record *record)
{
    const RecordStatus status = measured_phase_status(record, column->path);
    double ms, spread;
    if (status == RECORD_STATUS_COUNT) return;
    if (status != RECORD_OK || !record_stat_ms(record, column->path, &ms)) {
        text_puts(out, cell_text_status(status));
        return;
    }
    const HumanText text = human_number(ms, column->digits);
    const char *point = strchr(text.s, '.');
    text_puts(out, text.s);
    if (!record_stat_spread(record, column->path, &spread)) return;
    /* As many decimals as the time, so that the two can be compared at a glance. */
    text_printf(out, " ± %.*f", point ? (int)strspn(point + 1, "0123456789") : 0, spread);
}

Ratio cell_text_ratio(double a, double spread_a, double b, double spread_b)
{
    const double value = a / b;
    return (Ratio){value, a > 0 ? value * hypot(spread_a / a, spread_b / b) : NAN};
}

static bool measured(const Record *r, const char *phase, double *ms, double *spread)
{
    if (!record_stat_ms(r, phase, ms)) return false;
    if (!record_stat_spread(r, phase, spread)) *spread = NAN;
    return true;
}

/* Time of phase `over` of record `a` / time of phase `under` of record `b`, each by its record's
 * statistic. False if either was not measured or the divisor is 0. */
static bool ratio_of_phases(const Record *a, const char *over, const Record *b, const char *under,
                            Ratio *out)
{
    double ms_a, ms_b, spread_a, spread_b;
    if (!measured(a, over, &ms_a, &spread_a) || !measured(b, under, &ms_b, &spread_b)) return false;
    if (ms_b <= 0) return false;
    *out = cell_text_ratio(ms_a, spread_a, ms_b, spread_b);
    return true;
}

static void put_ratio(Text *out, const Column *column, const Record *record)
{
    Ratio ratio;
    if (ratio_of_phases(record, column->path, record, "forward", &ratio))
        text_printf(out, "%.*f", column->digits, ratio.value);
}

/* Where one of them fitted in part only, a step is compared with one of the same mode: a forward pass
 * is no faster training step. */
static bool comparable(const Column *column, const Record *a, const Record *b)
{
    const char *mode_a = record_text(a, "measured_mode"), *mode_b = record_text(b, "measured_mode");
    if (strcmp(column->path, "step") != 0 || !mode_a || !mode_b) return true;
    if (!column_measured_less(a) && !column_measured_less(b)) return true;
    return strcmp(mode_a, mode_b) == 0;
}

static void put_speedup(Text *out, const Column *column, const Record *record,
                        const Record *baseline)
{
    Ratio ratio;
    if (!baseline || !comparable(column, record, baseline) ||
        !ratio_of_phases(baseline, column->path, record, column->path, &ratio))
        return;
    text_printf(out, "%.*f", column->digits, ratio.value);
    if (baseline != record && !isnan(ratio.error))
        text_printf(out, " ± %.*f", column->digits, ratio.error);
}

void cell_text_put_change(Text *out, const Column *column, const Record *record,
                          const Record *baseline)
{
    Ratio ratio;
    if (!record || !baseline ||
        !ratio_of_phases(record, column->path, baseline, column->path, &ratio)) {
        text_puts(out, "-");
        return;
    }
    text_printf(out, "%+.1f", 100 * (ratio.value - 1));
    if (!isnan(ratio.error)) text_printf(out, " ± %.1f", 100 * ratio.error);
}

static void put_plain(Text *out, const Column *column, const Record *record)
{
    char text[COLUMN_TEXT];
    double value;
    int64_t whole;
    if (column->kind == COLUMN_WORD || column->kind == COLUMN_WHOLE) {
        if (column_text(column, record, text)) text_puts(out, text);
    } else if (column->kind == COLUMN_COUNT) {
        if (record_int(record, column->path, &whole)) text_puts(out, human_count(whole).s);
    } else if (record_number(record, column->path, &value)) {
        if (column->kind == COLUMN_PERCENT) value *= 100;
        if (column->kind == COLUMN_SIGNIFICANT)
            text_puts(out, human_number(value, column->digits).s);
        else if (column->kind == COLUMN_SI)
            text_puts(out, human_si(value).s);
        else
            text_printf(out, "%.*f", column->digits, value);
    }
}

void cell_text_put(Text *out, const Column *column, const Record *record, const Record *baseline)
{
    const size_t before = out->n;
    switch (column->kind) {
    case COLUMN_TIME:
        put_time(out, column, record);
        break;
    case COLUMN_RATIO:
        put_ratio(out, column, record);
        break;
    case COLUMN_SPEEDUP:
        put_speedup(out, column, record, baseline);
        break;
    case COLUMN_STATUS:
        text_puts(out, cell_text_status(record_status(record)));
        break;
    default:
        put_plain(out, column, record);
        break;
    }
    if (out->n == before) text_puts(out, "-");
}

void cell_text_put_or_status(Text *out, const Column *column, const Record *record)
{
    const json_t *value = record ? record_value(record, column->path) : NULL;
    if (value && !json_is_null(value)) {
        cell_text_put(out, column, record, NULL);
    } else {
        text_puts(out, record && record_status(record) != RECORD_OK
                           ? cell_text_status(record_status(record))
                           : "-");
    }
}
