#include "cli/commands/precision_curves.h"

#include "bench/study/curve_cell.h"
#include "cli/commands/bench_output.h"
#include "cli/commands/curve_peer.h"
#include "cli/commands/resumed_rows.h"
#include "cli/commands/study.h"
#include "cli/output.h"
#include "report/study/curve_report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Of all cells, which are processes forked from this one. */
static CurveText text;

static Status run_curve(const Config *config, CellLink *link)
{
    return curve_cell_run(config, link, &text);
}

static Status report_curves(Text *out, const Settings *settings, const RecordSet *rows)
{
    return curve_report_write(out, settings->format, rows);
}

/* Tokens are bytes, so that a preset's vocabulary would be mostly unused. */
static Status set_up(const Settings *settings, Config *c)
{
    c->warmup = 0;
    c->steps = c->curve;
    if (!settings->given[OPTION_TIMEOUT]) c->timeout = 1e9; /* it takes as long as it takes */
    if (!settings->given[OPTION_VOCAB] && !model_spec_is_file(&c->model))
        c->model.vocab = CURVE_TEXT_VOCAB;
    if (c->model.vocab >= CURVE_TEXT_VOCAB) return ST_OK;
    return FAIL(ST_USAGE, "--curve: tokens are bytes, and a vocabulary of %lld has no room for %d",
                (long long)c->model.vocab, CURVE_TEXT_VOCAB);
}

/* fp16 without loss scaling, too, to see what that is good for. */
static int add_unscaled(const Settings *settings, Config *cells, int n)
{
    for (int i = 0; i < n && !settings->given[OPTION_LOSS_SCALE]; i++) {
        if (cells[i].precision != PRECISION_FP16) continue;
        for (int k = n; k > i; k--) cells[k] = cells[k - 1];
        cells[i + 1].loss_scale = CONFIG_SCALE_NONE;
        return n + 1;
    }
    return n;
}

static Status check_options(const Settings *settings)
{
    static const OptionId others[] = {OPTION_WARMUP, OPTION_STEPS, OPTION_SAMPLE_TIME, OPTION_STAT,
                                      OPTION_TERMS,  OPTION_TERM,  OPTION_END};
    for (int i = 0; others[i] != OPTION_END; i++) {
        if (settings->given[others[i]])
            return FAIL(ST_USAGE, "--%s does nothing beside --curve N: leave it out",
                        option_table[others[i]].name);
    }
    return ST_OK;
}

static Status check_text(const Config *cells, int n)
{
    for (int i = 0; i < n; i++) {
        if (curve_text_windows(&text, cells[i].ctx) < 1)
            return FAIL(ST_USAGE,
                        "--data: %s has %zu bytes, and a window has --ctx %lld and one more",
                        text.source, text.bytes.n, (long long)cells[i].ctx);
    }
    return ST_OK;
}

/* The key of a cell of ours without what may differ between its curves. */
static void work_of(const char *key, char work[RECORD_KEY_SIZE])
{
    RecordKeyPart part = {.text = key};
    size_t n = 0;
    work[0] = '\0';
    while (record_key_next(&part)) {
        if (record_key_names(&part, "precision") || record_key_names(&part, "fp8_recipe") ||
            record_key_names(&part, "fp8_layers") || record_key_names(&part, "loss_scale"))
            continue;
        n += (size_t)snprintf(work + n, RECORD_KEY_SIZE - n, " %.*s", (int)part.length, part.text);
    }
}

static bool is_beside(const Record *record, const Config *cell)
{
    char key[RECORD_KEY_SIZE], own[RECORD_KEY_SIZE], other[RECORD_KEY_SIZE];
    record_key_of_config(cell, key);
    if (!record_key(record)) return false;
    work_of(key, own);
    work_of(record_key(record), other);
    return strcmp(own, other) == 0;
}

/* Curves of another text cannot be beside these. */
static Status check_resumed(const Settings *settings, const Config *cell)
{
    CLEANUP(record_set_free) RecordSet known = {0};
    if (!settings->resume || access(settings->resume, F_OK) != 0) return ST_OK;
    TRY(output_rows_init(&known, settings));
    TRY(resumed_rows_read(&known, settings));
    for (size_t i = 0; i < record_set_size(&known); i++) {
        const json_t *of = json_object_get(record_value(record_set_at(&known, i), "curve"), "text");
        const char *hash = record_text(of, "hash");
        const bool peer = record_text(record_set_at(&known, i), "peer") != NULL;
        if (!hash) continue;
        if (!peer && !is_beside(record_set_at(&known, i), cell))
            return FAIL(ST_USAGE,
                        "--resume %s: its curves are of another model, or of other steps, "
                        "learning rate, seed or context",
                        settings->resume);
        if (strcmp(hash, text.hash) != 0)
            return FAIL(ST_USAGE, "--resume %s: its curves are of another text (%s) than %s",
                        settings->resume, record_text(of, "source"), text.source);
    }
    return ST_OK;
}

Status precision_curves_run(const Settings *settings, Config *cells, int n, const bool *varies,
                            int *exit_code)
{
    for (int i = 0; i < n; i++) TRY(set_up(settings, &cells[i]));
    TRY(check_options(settings));
    TRY(curve_peer_check(settings, cells));
    TRY(bench_output_check(settings));
    TRY(curve_text_read(&text, settings->data));
    TRY(check_text(cells, n));
    TRY(check_resumed(settings, cells));
    RunnerTask task = {.configs = cells,
                       .n = add_unscaled(settings, cells, n),
                       .varies = varies,
                       .cell = run_curve};
    TRY(curve_peer_begin(&task, settings, &text));
    const Status status = study_run_resumed(settings, &task, report_curves, exit_code);
    curve_peer_end();
    curve_text_free(&text);
    return status;
}

Status precision_curves_refuse(const Settings *settings)
{
    if (settings->data)
        return FAIL(ST_USAGE, "--data is the text of --curve N, which is not given");
    if (settings->peer || settings->peer_variants)
        return FAIL(ST_USAGE, "--peer and --peer-variant are of --curve N, which is not given");
    if (settings->resume)
        return FAIL(ST_USAGE, "--resume is of --curve N, which is not given: the other tables are "
                              "made anew");
    return ST_OK;
}
