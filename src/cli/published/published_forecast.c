#include "cli/published/published_forecast.h"

#include "base/human.h"
#include "bench/limits/datasheet.h"
#include "cli/published/published_figure.h"
#include "cli/published/published_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *published_forecast_name(const char *argument)
{
    static const char prefix[] = "published:";
    return strncmp(argument, prefix, sizeof prefix - 1) == 0 ? argument + sizeof prefix - 1 : NULL;
}

/* The phase whose mean a figure is; PHASE_SETUP: of the step; PHASE_COUNT: it is something else. */
static Phase phase_of(const PublishedFigure *figure)
{
    char path[64];
    if (figure->kind != PUBLISHED_VALUE) return PHASE_COUNT;
    if (strcmp(figure->path, "step.mean_ms") == 0) return PHASE_SETUP;
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        snprintf(path, sizeof path, "%s.mean_ms", plan_phase_name((Phase)p));
        if (strcmp(figure->path, path) == 0) return (Phase)p;
    }
    return PHASE_COUNT;
}

/* What no plan tells; NULL: nothing. */
static const char *left_out(const Config *config)
{
    if (config->warmup == 0) return "its first step, without warm-up, is among its samples";
    if (config->attention != ATTENTION_NAIVE) return "torch.compile is not PyTorch's eager mode";
    return NULL;
}

static Status forecast_row(StepForecast *f, const Config *config, const Efficiency *e,
                           EfficiencyProgram program, const Limits *machine)
{
    const char *why = left_out(config);
    Config eager = *config;
    eager.exec = EXEC_EAGER;
    snprintf(eager.device, sizeof eager.device, "auto");
    if (!why) return step_forecast_make(f, e, &eager, program, machine);
    *f = (StepForecast){0};
    snprintf(f->why, sizeof f->why, "%s", why);
    return ST_OK;
}

static Status add_figures(ForecastChecks *checks, const PublishedRow *row, const StepForecast *f)
{
    CLEANUP(text_free) Text label = {0};
    PublishedFigure figures[PUBLISHED_MAX_FIGURES];
    const PublishedTable *table = &published_list_tables[row->table];
    const int n = published_figure_list(table, figures);
    published_list_put_label(&label, row);
    for (int i = 0; i < n; i++) {
        const Phase phase = phase_of(&figures[i]);
        const double measured = 1e-3 * row->published[i] * figures[i].scale;
        if (phase == PHASE_COUNT || !isfinite(measured) || !(measured > 0)) continue;
        if (*f->why) {
            forecast_check_leave(checks, f->why);
            continue;
        }
        const bool step = phase == PHASE_SETUP;
        ForecastCheck check = {.phase = step ? "step" : plan_phase_name(phase),
                               .measured = measured,
                               .forecast = step ? f->step : f->phase[phase],
                               .roof = step ? f->roof : f->roof_of[phase],
                               .low = NAN,
                               .high = NAN};
        snprintf(check.name, sizeof check.name, "%s: %s", table->title, text_str(&label));
        TRY(forecast_check_add(checks, &check));
    }
    return text_status(&label);
}

static bool has_times(const PublishedTable *table)
{
    PublishedFigure figures[PUBLISHED_MAX_FIGURES];
    const int n = published_figure_list(table, figures);
    for (int i = 0; i < n; i++) {
        if (phase_of(&figures[i]) != PHASE_COUNT) return true;
    }
    return false;
}

static Status check_row(ForecastChecks *checks, const PublishedRow *row, const Efficiency *e,
                        EfficiencyProgram program, const Limits *machine)
{
    Config config;
    StepForecast f;
    Limits own;
    const Datasheet *sheet;
    const PublishedTable *table = &published_list_tables[row->table];
    const char *gpu = published_list_gpu(row->table);
    if (!machine && !gpu)
        return FAIL(ST_USAGE, "--check published:%s: it does not name its GPU: --gpu NAME",
                    published_list_writeups[table->writeup].name);
    if (!machine) {
        TRY(datasheet_named(gpu, &sheet));
        datasheet_limits(sheet, &own);
    }
    TRY(published_list_config(table, row, "", &config));
    TRY(forecast_row(&f, &config, e, program, machine ? machine : &own));
    return add_figures(checks, row, &f);
}

Status published_forecast_checks(ForecastChecks *checks, const char *name,
                                 const Efficiency *efficiency, EfficiencyProgram program,
                                 const Limits *machine)
{
    int writeup;
    if (published_list_find(name, &writeup) != ST_OK)
        return FAIL(ST_USAGE,
                    "--check published:%s: there is no such write-up; suite --help has their names",
                    human_plain(name).s);
    for (int r = 0; r < published_list_n_rows; r++) {
        const PublishedRow *row = &published_list_rows[r];
        const PublishedTable *table = &published_list_tables[row->table];
        if (table->writeup != writeup || !has_times(table)) continue;
        TRY(check_row(checks, row, efficiency, program, machine));
    }
    return ST_OK;
}
