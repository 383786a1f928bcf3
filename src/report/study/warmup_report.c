#include "report/study/warmup_report.h"

#include "base/human.h"
#include "base/json_text.h"
#include "report/findings/findings.h"
#include "report/format/table_write.h"
#include "report/records/record_notes.h"

#include <math.h>
#include <string.h>

static double percent(double x, double of)
{
    return 100 * (x / of - 1);
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
                   "of --warmup");
    else if (s->enough < 0)
        table_note_printf(table,
                          "steps after %lld warm-ups are still slower than later ones: try more",
                          (long long)most);
    else if (s->enough == 0)
        table_note(table, "no warm-up is needed here: the first step is as fast as later ones");
    else
        table_note_printf(table,
                          "%lld warm-up%s enough here: step %lld is the first that does not differ "
                          "from steps %lld "
                          "and later (p > 0.05 by Mann-Whitney, or less than 1 %% of the median)",
                          (long long)s->enough, s->enough == 1 ? " is" : "s are",
                          (long long)s->enough + 1, (long long)s->steady_from);
}

static void settings(Table *table, const WarmupStudy *s, const RecordSet *rows)
{
    Text findings = {0};
    table->title = "What warm-up steps change";
    TABLE_COLUMNS(table, 0, "warm-ups", "runs", "mean (ms)", "std in a run (ms)",
                  "std of means (ms)", "off by (%)", "first sample (ms)", "second (ms)");
    for (int i = 0; i < s->n; i++) {
        const WarmupSetting *x = &s->settings[i];
        table_cell_printf(table, "%lld", (long long)x->warmup);
        table_cell_printf(table, "%d", x->runs);
        table_cell(table, human_number(x->mean, 4).s);
        table_cell(table, human_number(x->std, 4).s);
        table_cell(table, human_number(x->between, 4).s);
        table_cell_printf(table, "%+.1f", percent(x->mean, s->settings[s->n - 1].mean));
        table_cell(table, human_number(x->first, 4).s);
        table_cell(table, human_number(x->second, 4).s);
    }
    put_advice(table, s);
    findings_warmup(&findings, s);
    table_note_text(table, &findings);
    table_note(table,
               "each run is a process of its own; without warm-up its first step is a sample; off "
               "by = mean "
               "relative to the mean with the most warm-ups");
    record_notes_common(table, rows);
}

/* ---- the first step ---- */

static void cost_row(Table *table, const char *what, double ms)
{
    if (isnan(ms)) return;
    table_cell(table, what);
    table_cell(table, human_number(ms, 4).s);
}

static void first_step(Table *table, const WarmupStudy *s)
{
    const WarmupCold *c = &s->cold;
    char faults[96];
    snprintf(faults, sizeof faults, "system time of all threads (%s page faults)",
             human_whole(c->faults).s);
    table->title = "The first step of a process";
    TABLE_COLUMNS(table, 1, "the first step of a process", "ms");
    cost_row(table, "before it: load libraries, build the plan", c->plan);
    cost_row(table, "before it: allocate memory", c->open - c->prepare);
    cost_row(table, "before it: choose algorithms", c->prepare);
    cost_row(table, "the first step", c->first);
    cost_row(table, "a steady step", s->steady);
    cost_row(table, "extra time over a steady step", c->first - s->steady);
    cost_row(table, faults, c->system);
    if (c->capture > 0) cost_row(table, "CUDA graph capture", c->capture);
    table_note(table, "medians over all runs");
}

/* ---- formats ---- */

static Status conclude(Text *out, const char *format, const WarmupStudy *s)
{
    CLEANUP(text_free) Text text = {0};
    const WarmupSetting *least = &s->settings[0], *most = &s->settings[s->n - 1];
    text_printf(&text, "The first step takes %s times as long as a steady one.",
                human_number(s->cold.first / s->steady, 3).s);
    findings_enough(&text, s);
    if (s->n > 1)
        text_printf(&text, " With %lld the mean is %+.1f %% off that with %lld.",
                    (long long)least->warmup, percent(least->mean, most->mean),
                    (long long)most->warmup);
    return table_write_conclusion(out, format, &text);
}

static Status write_tables(Text *out, const char *format, const WarmupStudy *s,
                           const RecordSet *rows)
{
    Table table = {0};
    settings(&table, s, rows);
    TRY(table_write_next(out, format, &table));
    first_step(&table, s);
    TRY(table_write_next(out, format, &table));
    return conclude(out, format, s);
}

/* NULL: no memory. */
static json_t *study_json(const WarmupStudy *s)
{
    json_t *list = json_array();
    int failed = 0;
    for (int i = 0; i < s->n; i++) {
        const WarmupSetting *x = &s->settings[i];
        failed |= json_array_append_new(
            list, json_pack("{s:I, s:i, s:o, s:o, s:o, s:o, s:o}", "warmup", (json_int_t)x->warmup,
                            "runs", x->runs, "mean_ms", json_text_real(x->mean), "std_ms",
                            json_text_real(x->std), "std_of_means_ms", json_text_real(x->between),
                            "first_ms", json_text_real(x->first), "second_ms",
                            json_text_real(x->second)));
    }
    const bool known = s->enough >= 0 && !s->undecided && !s->noisy;
    json_t *study = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "settings", list, "steady_ms",
        json_text_real(s->steady), "steady_noise", json_text_real(s->noise), "plan_ms",
        json_text_real(s->cold.plan), "open_ms", json_text_real(s->cold.open), "prepare_ms",
        json_text_real(s->cold.prepare), "cold_step_ms", json_text_real(s->cold.first),
        "cold_system_ms", json_text_real(s->cold.system), "cold_page_faults",
        json_text_real(s->cold.faults), "capture_ms", json_text_real(s->cold.capture), "enough",
        known ? json_integer(s->enough) : json_null());
    if (failed) json_decref(study);
    return failed ? NULL : study;
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
    if (strcmp(format, "json") == 0)
        return report_study_json(out, rows, "warmup_study", s ? study_json(s) : json_object());
    if (strcmp(format, "csv") == 0) return write_csv(out, rows);
    if (!s) return report_write(out, format, &(ReportInput){.set = rows});
    return write_tables(out, format, s, rows);
}
