#include "report/study/warmup_report.h"

#include "base/human.h"
#include "base/json_text.h"
#include "bench/record/record_file.h"
#include "report/findings/findings.h"
#include "report/format/table_write.h"
#include "report/records/record_notes.h"
#include "report/records/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double percent(double x, double of)
{
    return 100 * (x / of - 1);
}

static void ms_cell(Table *table, double x)
{
    table_cell(table, isnan(x) ? "-" : human_number(x, 4).s);
}

/* ---- settings ---- */

static void put_advice(Table *table, const WarmupStudy *s)
{
    const int64_t most = s->settings[s->n - 1].warmup;
    if (s->noisy)
        table_note_printf(
            table,
            "steady steps vary by %.0f %% (std / mean): this machine is too noisy to tell how many "
            "warm-ups are enough",
            100 * s->noise);
    else if (s->undecided)
        table_note(table,
                   "too few runs to tell how many warm-ups are enough: use more --rounds or values "
                   "of --warmup",
                   NULL);
    else if (s->enough < 0)
        table_note_printf(table,
                          "steps after %lld warm-ups are still slower than later ones: try more",
                          (long long)most);
    else if (s->enough == 0)
        table_note(table, "no warm-up is needed here: the first step is as fast as later ones",
                   NULL);
    else
        table_note_printf(table,
                          "%lld warm-up%s enough here: step %lld is the first that does not differ "
                          "from steps %lld "
                          "and later (p > 0.05 by Mann-Whitney, or less than 1 %% of the median)",
                          (long long)s->enough, s->enough == 1 ? " is" : "s are",
                          (long long)s->enough + 1, (long long)s->steady_from);
}

static void put_price(Table *table, const WarmupStudy *s)
{
    Text text = {0};
    findings_warmup(&text, s);
    if (text.n) table_note(table, text_str(&text), NULL);
    table->failed = table->failed || text.failed;
    text_free(&text);
}

static void settings(Table *table, const WarmupStudy *s, const RecordSet *rows)
{
    static const char *const labels[] = {
        "warm-ups",          "runs",       "mean (ms)",         "std in a run (ms)",
        "std of means (ms)", "off by (%)", "first sample (ms)", "second (ms)"};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        table_column(table, labels[i], "", true);
    for (int i = 0; i < s->n; i++) {
        const WarmupSetting *x = &s->settings[i];
        table_cell_printf(table, "%lld", (long long)x->warmup);
        table_cell_printf(table, "%d", x->runs);
        ms_cell(table, x->mean);
        ms_cell(table, x->std);
        ms_cell(table, x->between);
        table_cell_printf(table, "%+.1f", percent(x->mean, s->settings[s->n - 1].mean));
        ms_cell(table, x->first);
        ms_cell(table, x->second);
    }
    put_advice(table, s);
    put_price(table, s);
    table_note(table,
               "each run is a process of its own; without warm-up its first step is a sample; off "
               "by = mean "
               "relative to the mean with the most warm-ups",
               NULL);
    record_notes_common(table, rows);
}

/* ---- the first step ---- */

static void cost_row(Table *table, const char *what, double ms)
{
    if (isnan(ms)) return;
    table_cell(table, what);
    ms_cell(table, ms);
}

static void first_step(Table *table, const WarmupStudy *s)
{
    const WarmupCold *c = &s->cold;
    char faults[96];
    snprintf(faults, sizeof faults, "system time of all threads (%s page faults)",
             human_whole(c->faults).s);
    table_column(table, "the first step of a process", "", false);
    table_column(table, "ms", "", true);
    cost_row(table, "before it: load libraries, build the plan", c->plan);
    cost_row(table, "before it: allocate memory", c->open - c->prepare);
    cost_row(table, "before it: choose algorithms", c->prepare);
    cost_row(table, "the first step", c->first);
    cost_row(table, "a steady step", s->steady);
    cost_row(table, "extra time over a steady step", c->first - s->steady);
    cost_row(table, faults, c->system);
    if (c->capture > 0) cost_row(table, "CUDA graph capture", c->capture);
    table_note(table, "medians over all runs", NULL);
}

/* ---- formats ---- */

static Status write_tables(Text *out, const char *format, const WarmupStudy *s,
                           const RecordSet *rows)
{
    Table table = {0};
    settings(&table, s, rows);
    TRY(table_write_next(out, format, &table));
    first_step(&table, s);
    return table_write_next(out, format, &table);
}

static Status put_study(json_t *json, const WarmupStudy *s)
{
    json_t *list = json_array();
    if (json_object_set_new(json, "settings", list)) return NO_MEMORY("for a study of warm-up");
    for (int i = 0; i < s->n; i++) {
        const WarmupSetting *x = &s->settings[i];
        json_t *setting = json_object();
        if (json_array_append_new(list, setting)) return NO_MEMORY("for a study of warm-up");
        TRY(record_put_int(setting, "warmup", x->warmup));
        TRY(record_put_int(setting, "runs", x->runs));
        TRY(record_put_number(setting, "mean_ms", x->mean));
        TRY(record_put_number(setting, "std_ms", x->std));
        TRY(record_put_number(setting, "std_of_means_ms", x->between));
        TRY(record_put_number(setting, "first_ms", x->first));
        TRY(record_put_number(setting, "second_ms", x->second));
    }
    TRY(record_put_number(json, "steady_ms", s->steady));
    TRY(record_put_number(json, "steady_noise", s->noise));
    TRY(record_put_number(json, "plan_ms", s->cold.plan));
    TRY(record_put_number(json, "open_ms", s->cold.open));
    TRY(record_put_number(json, "prepare_ms", s->cold.prepare));
    TRY(record_put_number(json, "cold_step_ms", s->cold.first));
    TRY(record_put_number(json, "cold_system_ms", s->cold.system));
    TRY(record_put_number(json, "cold_page_faults", s->cold.faults));
    TRY(record_put_number(json, "capture_ms", s->cold.capture));
    return s->enough < 0 || s->undecided || s->noisy ? record_put_null(json, "enough")
                                                     : record_put_int(json, "enough", s->enough);
}

static Status write_json(Text *out, const WarmupStudy *s, const RecordSet *rows)
{
    json_t *study = json_object();
    json_t *root = json_pack("{s:i, s:O, s:o, s:O}", "schema", RECORD_SCHEMA, "environment",
                             json_array_get(rows->environments, 0), "warmup_study", study,
                             "results", rows->results);
    Status status = root ? ST_OK : NO_MEMORY("for the result");
    if (status == ST_OK && s) status = put_study(study, s);
    char *dump =
        status == ST_OK ? json_text_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(root);
    TRY(status);
    if (!dump) return NO_MEMORY("for the result as JSON");
    text_puts(out, dump);
    text_puts(out, "\n");
    free(dump);
    return text_status(out);
}

static Status write_csv(Text *out, const RecordSet *rows)
{
    text_puts(out, "warmup,run,step,ms\n");
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const json_t *samples = record_value(record_set_at(rows, i), "step.samples_ms");
        int64_t warmup = 0;
        record_int(record_set_at(rows, i), "warmup", &warmup);
        for (size_t k = 0; k < json_array_size(samples); k++)
            text_printf(out, "%lld,%zu,%lld,%.6g\n", (long long)warmup, i + 1,
                        (long long)warmup + (long long)k + 1,
                        json_number_value(json_array_get(samples, k)));
    }
    return text_status(out);
}

Status warmup_report_write(Text *out, const char *format, const WarmupStudy *s,
                           const RecordSet *rows)
{
    if (strcmp(format, "json") == 0) return write_json(out, s, rows);
    if (strcmp(format, "csv") == 0) return write_csv(out, rows);
    if (!s) return report_write(out, format, &(ReportInput){.set = rows});
    return write_tables(out, format, s, rows);
}
