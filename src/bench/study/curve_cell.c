#include "bench/study/curve_cell.h"

#include "base/i64.h"
#include "base/json_text.h"
#include "bench/cell/cell.h"
#include "ops/element.h"
#include "plan/step_state.h"

#include <math.h>
#include <stdlib.h>

typedef struct Curve {
    CurveText *text;
    Session *session;
    const Model *model;
    const Config *config;
    int32_t *ids;   /* tokens, then targets, of one step; owned */
    double *losses; /* of the steps so far; owned */
    int64_t n;
    int64_t skipped, moved; /* steps that the optimizer skipped; the last one that it did not */
} Curve;

int64_t curve_cell_warmup(int64_t steps)
{
    return steps / 10 > 1 ? steps / 10 : 1;
}

int64_t curve_cell_last(int64_t steps)
{
    return i64_min(50, steps);
}

/* Rises to --lr over the warm-up, and stays there. */
static double learning_rate(const Config *config, int64_t step)
{
    const double part = (double)(step + 1) / (double)curve_cell_warmup(config->curve);
    return part < 1 ? part * config->lr : config->lr;
}

static Status feed(const Curve *c, int64_t step)
{
    const int64_t width = c->config->ctx;
    const int64_t n = plan_elements(&c->model->plan.tensors[c->model->tokens]), rows = n / width;
    double state[STATE_COUNT];
    TRY(curve_text_batch(c->text, width, (uint64_t)c->config->seed, step * rows, rows, c->ids,
                         c->ids + n));
    TRY(session_upload(c->session, c->model->tokens, c->ids));
    TRY(session_upload(c->session, c->model->targets, c->ids + n));
    TRY(session_download(c->session, c->model->state, state));
    state[STATE_LR] = learning_rate(c->config, step);
    return session_upload(c->session, c->model->state, state);
}

/* A step with an overflow is skipped: where all are from some step on, nothing is trained any more. */
static Status note_skipped(Curve *c, int64_t step)
{
    double state[STATE_COUNT];
    TRY(session_download(c->session, c->model->state, state));
    if (state[STATE_SKIPPED] == (double)c->skipped) c->moved = step + 1;
    c->skipped = (int64_t)state[STATE_SKIPPED];
    return ST_OK;
}

static Status take_loss(Curve *c)
{
    const DType dtype = c->model->plan.tensors[c->model->loss].dtype;
    double loss = 0;
    TRY(c->session->api->sync(c->session->backend));
    TRY(session_download(c->session, c->model->loss, &loss));
    c->losses[c->n++] = element_get(&loss, dtype, 0);
    return ST_OK;
}

/* The first step runs node by node; after it, everything has been loaded and can be captured. */
static Status step(const Curve *c)
{
    TRY(session_run_step(c->session));
    if (c->config->exec != EXEC_GRAPH || c->session->graphs.step) return ST_OK;
    TRY(c->session->api->sync(c->session->backend));
    return session_capture(c->session);
}

/* A loss that is no number is the last: nothing comes back from there. */
static Status train(Curve *c, CellLink *link)
{
    for (int64_t s = 0; s < c->config->curve; s++) {
        TRY(feed(c, s));
        TRY(step(c));
        TRY(take_loss(c));
        TRY(note_skipped(c, s));
        TRY(cell_link_stage(link, "training step", s + 1, c->config->curve));
        if (!isfinite(c->losses[s])) return ST_OK;
    }
    return ST_OK;
}

/* ---- what it came to ---- */

static double mean(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

/* The first step whose loss is no number, after which the mean of ten is 1 above its lowest, or from which on
 * ten or more are skipped; 0: none. */
static int64_t diverged_at(const Curve *c)
{
    enum { STEPS = 10 };
    double lowest = INFINITY;
    const int64_t stuck = c->n - c->moved >= STEPS ? c->moved : c->n;
    for (int64_t s = 0; s < c->n; s++) {
        if (s == stuck) return s + 1;
        if (!isfinite(c->losses[s])) return s + 1;
        if (s + 1 < STEPS) continue;
        const double now = mean(c->losses + s + 1 - STEPS, STEPS);
        if (now > lowest + 1) return s + 1;
        lowest = fmin(lowest, now);
    }
    return 0;
}

static json_t *losses_json(const Curve *c)
{
    json_t *losses = json_array();
    for (int64_t s = 0; s < c->config->curve; s++)
        json_array_append_new(losses, s < c->n ? json_text_real(c->losses[s]) : json_null());
    return losses;
}

static Status tell(const Curve *c, const CellOpen *cell)
{
    const int64_t rows = plan_elements(&c->model->plan.tensors[c->model->tokens]) / c->config->ctx;
    const int64_t last = curve_cell_last(c->config->curve);
    const bool whole = c->n == c->config->curve;
    json_t *text = curve_text_json(c->text);
    json_object_set_new(text, "used", json_integer(c->n * rows));
    CLEANUP(json_text_free)
    Record *facts =
        json_pack("{s:{s:o, s:I, s:I, s:o, s:I, s:o}}", "curve", "losses", losses_json(c), "warmup",
                  (json_int_t)curve_cell_warmup(c->config->curve), "last", (json_int_t)last, "mean",
                  json_text_real(whole ? mean(c->losses + c->n - last, last) : NAN), "diverged_at",
                  (json_int_t)diverged_at(c), "text", text);
    if (!facts) return NO_MEMORY("for the losses of a curve");
    TRY(cell_link_facts(cell->link, facts));
    if (placement_check_timed(cell->config, cell->placement) == ST_OK) return ST_OK;
    TRY(record_put_text(facts, "emulated", "fp8"));
    return cell_link_facts(cell->link, facts);
}

static Status measure(void *self, const CellOpen *cell)
{
    Curve *c = self;
    if (cell->fit->mode != MODE_TRAIN) return ST_OK; /* a smaller mode fits, and trains nothing */
    c->session = cell->session;
    c->model = &cell->fit->model;
    c->config = cell->config;
    const size_t n = (size_t)plan_elements(&c->model->plan.tensors[c->model->tokens]);
    c->ids = malloc(2 * n * sizeof *c->ids);
    c->losses = malloc((size_t)c->config->curve * sizeof *c->losses);
    if (!c->ids || !c->losses) return NO_MEMORY("for %lld steps", (long long)c->config->curve);
    TRY(train(c, cell->link));
    return tell(c, cell);
}

Status curve_cell_run(const Config *config, CellLink *link, CurveText *text)
{
    Curve curve = {.text = text};
    const CellHooks hooks = {.self = &curve, .measure = measure, .untimed = true};
    const Status status = cell_run_with_hooks(config, link, &hooks);
    free(curve.ids);
    free(curve.losses);
    return status;
}
