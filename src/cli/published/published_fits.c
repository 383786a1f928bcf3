#include "cli/published/published_fits.h"

#include "base/log.h"
#include "bench/estimate/fit.h"
#include "bench/measure/child.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one row ---- */

static void take(PublishedFit *out, const Config *config, const Fit *fit)
{
    *out = (PublishedFit){.status = RECORD_OK, .runs = fit->fits, .mode = fit->mode};
    if (fit->fits && fit->mode == config->mode) return;
    out->status = RECORD_OOM;
    out->needs = fit->need[config->mode];
    out->has = fit->available;
    snprintf(out->message, sizeof out->message, "%s %s", config_mode_name(config->mode),
             fit_shortage(fit, config->mode).s);
}

Status published_fits_find(const Config *config, PublishedFit *out)
{
    Placement placement;
    Fit fit = {0};
    Status status = placement_of(config, &placement);
    if (status == ST_OK) status = fit_make_on(&fit, config, &placement, NULL);
    if (status == ST_OK) take(out, config, &fit);
    fit_free(&fit);
    if (status != ST_UNSUPPORTED) return status;
    *out = (PublishedFit){.status = RECORD_UNSUPPORTED};
    snprintf(out->message, sizeof out->message, "%s", status_message());
    return ST_OK;
}

/* ---- all of them, in a process that may open the device ---- */

typedef struct Survey {
    PublishedOrder *order;
    int oom, unsupported;
} Survey;

/* A line for each row that cannot be run: its number and why. */
static int survey_body(void *arg, int out)
{
    const Survey *survey = arg;
    for (int i = 0; i < survey->order->n; i++) {
        PublishedFit fit;
        char line[32];
        if (survey->order->cells[i].state != CELL_ORDER_WAITING) continue;
        if (published_fits_find(&survey->order->configs[i], &fit) != ST_OK || fit.runs) continue;
        const int n = snprintf(line, sizeof line, "%d %d\n", i, fit.status == RECORD_OOM);
        if (!child_write(out, line, (size_t)n)) return 1;
    }
    return 0;
}

static void on_line(void *self, const char *line, size_t length)
{
    Survey *survey = self;
    int i = -1, oom = 0;
    (void)length;
    if (sscanf(line, "%d %d", &i, &oom) != 2 || i < 0 || i >= survey->order->n) return;
    survey->order->cells[i].state = CELL_ORDER_SKIPPED;
    survey->oom += oom != 0;
    survey->unsupported += oom == 0;
}

static void tell(const Survey *survey)
{
    char oom[48] = "", unsupported[48] = "";
    if (survey->oom + survey->unsupported == 0) return;
    if (survey->oom > 0) snprintf(oom, sizeof oom, "%d OOM by the plan", survey->oom);
    if (survey->unsupported > 0)
        snprintf(unsupported, sizeof unsupported, "%d unsupported", survey->unsupported);
    log_note("rows that are not begun: %s%s%s; the tables say why", oom,
             *oom && *unsupported ? ", " : "", unsupported);
}

/* What a survey that ends early has not told of is begun, and says itself what it lacks. */
Status published_fits_leave_out(PublishedOrder *order)
{
    Survey survey = {.order = order};
    ChildResult result;
    const ChildTask task = {
        .body = survey_body, .arg = &survey, .self = &survey, .message = on_line};
    TRY(child_run(&task, &result));
    tell(&survey);
    return ST_OK;
}
