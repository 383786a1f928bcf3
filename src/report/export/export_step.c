#include "report/export/export_step.h"

#include "base/array.h"
#include "base/human.h"
#include "base/i64.h"
#include "bench/cell/cell_ranks.h"
#include "bench/cell/rank_device.h"
#include "bench/estimate/fit.h"
#include "exec/init.h"
#include "exec/param_values.h"
#include "exec/weights.h"
#include "ops/adam_state.h"
#include "ops/element.h"
#include "report/export/export_metadata.h"
#include "report/export/export_ranks.h"
#include "report/export/export_scales.h"
#include "report/export/safetensors.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A dynamic loss scale starts at 2^16: after this many halvings something else is wrong. */
enum { MOST_SKIPS = 64 };

typedef struct Export {
    const Config *config;
    const Model *model;
    Session *session;
    Safetensors *file;
    FileTensors tensors; /* the parameters as the model's files have them */
    float *joined;       /* a tensor whose parameters do not lie in it one after the other */
    float *values;       /* of any one parameter */
    void *buffer;        /* holds the tokens, or what a parameter's values are made of */
    char *logits;        /* taken when they are made: later they turn into their gradient */
    bool want_logits;
    ExportScales scales; /* of fp8, of the first step */
    bool want_scales;
    int64_t micro_batch; /* that runs */
} Export;

static const Tensor *shape(const Export *e, int id)
{
    return &e->model->plan.tensors[id];
}

static int64_t micro_batches(const Model *model)
{
    return plan_phase_runs(&model->plan, PHASE_FORWARD);
}

/* ---- what the file holds ---- */

static Status declare_params(const Export *e, const char *prefix)
{
    for (int i = 0; i < e->tensors.n; i++) {
        const FileTensor *t = &e->tensors.tensors[i];
        char name[FILE_TENSOR_NAME + 16];
        snprintf(name, sizeof name, "%s.%s", prefix, t->name);
        TRY(safetensors_declare(e->file, name, DT_F32, t->n_dims, t->dim));
    }
    return ST_OK;
}

/* In the order in which a run makes them. Gradients are unscaled and widened to fp32. */
static Status declare(const Export *e)
{
    const Config *c = e->config;
    const int64_t rows = micro_batches(e->model) * plan_ranks(&e->model->plan) * c->batch;
    const int64_t ids[] = {rows, c->ctx}, logits[] = {rows, c->ctx, c->model.vocab};
    TRY(export_metadata_put(e->file, c, e->model));
    TRY(safetensors_declare(e->file, "tokens", DT_I32, 2, ids));
    TRY(safetensors_declare(e->file, "targets", DT_I32, 2, ids));
    TRY(declare_params(e, "param"));
    TRY(safetensors_declare(e->file, "logits", shape(e, e->model->logits)->dtype, 3, logits));
    TRY(safetensors_declare(e->file, "loss", DT_F32, 0, NULL));
    TRY(export_scales_declare(&e->scales, e->file, &e->model->plan));
    if (config_mode_has_backward(e->model->mode)) TRY(declare_params(e, "grad"));
    if (e->model->mode == MODE_TRAIN) TRY(declare_params(e, "updated"));
    return safetensors_begin_data(e->file);
}

/* ---- the run ---- */

static Status write_ids(const Export *e, int id)
{
    TRY(session_download(e->session, id, e->buffer));
    return export_ranks_rows(e->file, e->session->comm, micro_batches(e->model), e->buffer,
                             plan_bytes(shape(e, id)));
}

static Status write_loss(const Export *e, double *loss)
{
    TRY(session_download(e->session, e->model->loss, e->buffer));
    TRY(export_ranks_mean(e->session->comm, e->buffer));
    *loss = element_get(e->buffer, shape(e, e->model->loss)->dtype, 0);
    return safetensors_data(e->file, e->buffer, plan_bytes(shape(e, e->model->loss)));
}

static Status read_values(const Export *e, int param, ParamValues what, double divisor)
{
    TRY(param_values_read(e->session, e->model, param, what, e->values, e->buffer));
    for (int64_t i = 0; divisor != 1 && i < param_values_count(e->model, param); i++)
        e->values[i] = (float)((double)e->values[i] / divisor);
    return ST_OK;
}

/* Puts a parameter where it is in the tensor that is written next. */
static void join(const Export *e, const FileTensor *t, int part)
{
    for (int64_t row = 0; row < t->rows[part]; row++) {
        const FileRow to = file_tensor_row(t, part, row);
        for (int64_t c = 0; c < t->cols; c++)
            e->joined[to.first + c * to.step] = e->values[row * t->cols + c];
    }
}

static Status write_file_tensor(const Export *e, const FileTensor *t, ParamValues what,
                                double divisor)
{
    for (int p = 0; p < t->n_parts; p++) {
        const int64_t first = t->first_row * t->cols, n = t->rows[p] * t->cols;
        if (first == 0) TRY(read_values(e, t->part[p], what, divisor)); /* of all experts */
        if (t->form == FILE_FORM_ROWS)
            TRY(safetensors_data(e->file, e->values + first, (size_t)n * sizeof *e->values));
        else
            join(e, t, p);
    }
    if (t->form == FILE_FORM_ROWS) return ST_OK;
    return safetensors_data(e->file, e->joined,
                            (size_t)file_tensor_elements(t) * sizeof *e->joined);
}

static Status write_all(const Export *e, ParamValues what, double divisor)
{
    for (int i = 0; i < e->tensors.n; i++)
        TRY(write_file_tensor(e, &e->tensors.tensors[i], what, divisor));
    return ST_OK;
}

/* Of the rows of one micro-batch. */
static size_t micro_logits_bytes(const Model *model)
{
    size_t bytes = 0;
    for (int i = 0; i < model->head.n; i++)
        bytes += plan_bytes(&model->plan.tensors[model->logits + i]);
    return bytes;
}

/* Of all rows. */
static size_t logits_bytes(const Model *model)
{
    return (size_t)micro_batches(model) * micro_logits_bytes(model);
}

/* A node that makes logits, or a chunk of their rows, has just run. */
static Status catch_logits(Export *e, const ObserverEvent *event)
{
    const int id = plan_out_id(event->plan, &event->plan->nodes[event->node], 0);
    const int chunk = id - e->model->logits;
    if (!e->want_logits || chunk < 0 || chunk >= e->model->head.n) return ST_OK;
    e->want_logits = chunk < e->model->head.n - 1 || e->micro_batch < micro_batches(e->model) - 1;
    TRY(event->api->sync(event->backend));
    const size_t bytes = plan_bytes(shape(e, e->model->logits)); /* of each chunk but the last */
    char *to = e->logits + (size_t)e->micro_batch * micro_logits_bytes(e->model);
    return session_download(e->session, id, to + (size_t)chunk * bytes);
}

/* An observer. */
static Status catch_made(void *self, const ObserverEvent *event)
{
    Export *e = self;
    const Node *node = &event->plan->nodes[event->node];
    if (e->want_scales) TRY(export_scales_take(&e->scales, e->session, node, e->micro_batch));
    return catch_logits(e, event);
}

/* The optimizer will skip a step whose gradients overflowed: told here before it runs, because
 * afterwards the gradients' memory may hold something else. */
static Status gradients_finite(const Export *e, bool *finite)
{
    *finite = true;
    for (int i = 0; i < e->model->n_params && *finite; i++) {
        TRY(read_values(e, i, PARAM_GRADIENT, 1));
        for (int64_t k = 0; k < param_values_count(e->model, i) && *finite; k++)
            *finite = isfinite(e->values[k]);
    }
    return ST_OK;
}

static Status optimize(const Export *e)
{
    TRY(session_run(e->session, PHASE_OPTIMIZER));
    return e->session->api->sync(e->session->backend);
}

/* Without an optimizer, this updates the state in its place. */
static Status skip_step(const Export *e, double state[STATE_COUNT])
{
    if (e->model->mode == MODE_TRAIN) return optimize(e);
    adam_state_skip(state);
    return session_upload(e->session, e->model->state, state);
}

static Status run_passes(Export *e)
{
    for (e->micro_batch = 0; e->micro_batch < micro_batches(e->model); e->micro_batch++) {
        TRY(session_run(e->session, PHASE_FORWARD));
        TRY(session_run(e->session, PHASE_BACKWARD));
    }
    return e->session->api->sync(e->session->backend);
}

/* Forward and backward until no gradient overflows. */
static Status usable_gradients(Export *e, double *loss_scale)
{
    for (int skips = 0; skips < MOST_SKIPS; skips++) {
        double state[STATE_COUNT];
        bool finite = true;
        TRY(run_passes(e));
        TRY(session_download(e->session, e->model->state, state));
        *loss_scale = state[STATE_LOSS_SCALE];
        if (state[STATE_GUARD] == 0) return ST_OK;
        TRY(gradients_finite(e, &finite));
        if (finite) return ST_OK;
        if (state[STATE_DYNAMIC] == 0) {
            return FAIL(ST_FAILED,
                        "gradients overflow fp16 at loss scale %g: no step can be applied; "
                        "use --loss-scale dynamic or a smaller one",
                        *loss_scale);
        }
        TRY(skip_step(e, state)); /* lowers the scale */
    }
    return FAIL(ST_FAILED, "gradients overflow fp16 at every loss scale: no step can be applied");
}

static Status run_steps(Export *e, ExportSummary *summary)
{
    double loss_scale = 1;
    e->want_logits = e->want_scales = true;
    if (!config_mode_has_backward(e->model->mode)) {
        TRY(session_run(e->session, PHASE_FORWARD));
        TRY(e->session->api->sync(e->session->backend));
    } else {
        TRY(usable_gradients(e, &loss_scale));
    }
    TRY(export_ranks_rows(e->file, e->session->comm, micro_batches(e->model), e->logits,
                          logits_bytes(e->model)));
    TRY(write_loss(e, &summary->loss));
    TRY(export_scales_write(&e->scales, e->file));
    e->want_scales = false;
    if (!config_mode_has_backward(e->model->mode)) return ST_OK;
    TRY(write_all(e, PARAM_GRADIENT, loss_scale));
    if (e->model->mode != MODE_TRAIN) return ST_OK;
    TRY(optimize(e));
    for (int64_t step = 1; step < e->config->steps; step++) {
        TRY(usable_gradients(e, &loss_scale));
        TRY(optimize(e));
    }
    return write_all(e, PARAM_VALUES, 1);
}

/* Steps whose gradients overflowed. */
static Status describe_skipped(const Export *e, ExportSummary *summary)
{
    double state[STATE_COUNT] = {0};
    char text[32];
    if (config_mode_has_backward(e->model->mode))
        TRY(session_download(e->session, e->model->state, state));
    summary->skipped_steps = (int64_t)state[STATE_SKIPPED];
    snprintf(text, sizeof text, "%" PRId64, summary->skipped_steps);
    return safetensors_late_metadata(e->file, "skipped_steps", text);
}

static Status run_and_write(Export *e, ExportSummary *summary)
{
    TRY(declare(e));
    TRY(session_observe(e->session, (Observer){.self = e, .end = catch_made}));
    TRY(write_ids(e, e->model->tokens));
    TRY(write_ids(e, e->model->targets));
    TRY(write_all(e, PARAM_VALUES, 1));
    TRY(run_steps(e, summary));
    TRY(describe_skipped(e, summary));
    summary->parameters = e->model->n_elements;
    summary->bytes = e->file->declared;
    return safetensors_finish(e->file);
}

/* ---- putting it together ---- */

static size_t most_elements(const Model *model)
{
    int64_t most = 1;
    for (int i = 0; i < model->n_params; i++) most = i64_max(most, param_values_count(model, i));
    return (size_t)most;
}

static size_t buffer_bytes(const Model *model)
{
    const size_t tokens = plan_bytes(&model->plan.tensors[model->tokens]);
    const size_t values = most_elements(model) * sizeof(double);
    return tokens > values ? tokens : values;
}

/* The largest tensor that is joined; 0 where none is. */
static size_t joined_bytes(const FileTensors *list)
{
    int64_t most = 0;
    for (int i = 0; i < list->n; i++) {
        const FileTensor *t = &list->tensors[i];
        if (t->form != FILE_FORM_ROWS && file_tensor_elements(t) > most)
            most = file_tensor_elements(t);
    }
    return (size_t)most * sizeof(float);
}

/* Beside the step's own memory, an export holds its buffers and what reading the weights takes. */
static Status check_fit(const Export *e, Fit *fit, const Placement *placement, bool weights)
{
    const Mode mode = e->config->mode;
    if (placement->backend == BACKEND_cpu) {
        fit->need[mode] += buffer_bytes(e->model) + logits_bytes(e->model);
        fit->need[mode] += most_elements(e->model) * sizeof *e->values;
        fit->need[mode] += joined_bytes(&e->tensors) + (weights ? weights_bytes(&e->tensors) : 0);
    }
    if (fit->fits && fit->mode == mode && fit->need[mode] <= fit->available) return ST_OK;
    return FAIL(ST_NO_MEMORY, "%s does not fit: %s", config_modes[mode], fit_shortage(fit, mode).s);
}

static Status take_buffers(Export *e)
{
    const size_t joined = joined_bytes(&e->tensors);
    e->values = malloc(most_elements(e->model) * sizeof *e->values);
    e->buffer = malloc(buffer_bytes(e->model));
    e->logits = malloc(logits_bytes(e->model));
    e->joined = joined ? malloc(joined) : NULL;
    if (!e->values || !e->buffer || !e->logits || (joined && !e->joined))
        return NO_MEMORY("to hold one tensor");
    return ST_OK;
}

static void free_export(Export *e)
{
    file_tensor_free(&e->tensors);
    export_scales_free(&e->scales);
    free(e->joined);
    free(e->values);
    free(e->buffer);
    free(e->logits);
}

Status export_step(const Config *config, const char *model, const char *path, Comm *comm,
                   ExportSummary *summary)
{
    Placement placement;
    CLEANUP(fit_free) Fit fit = {0};
    CLEANUP(safetensors_abandon) Safetensors file = {.file = {.fd = -1}};
    CLEANUP(session_close) Session session = {0};
    CLEANUP(weights_close) SafetensorsReader *weights = NULL;
    CLEANUP(free_export)
    Export e = {.config = config, .model = &fit.model, .session = &session, .file = &file};
    *summary = (ExportSummary){0};
    TRY(placement_find(config, &placement));
    if (comm) TRY(rank_device_join(comm, &placement));
    TRY(weights_open(&weights, model));
    if (safetensors_reader_reads(weights, path))
        return FAIL(ST_USAGE, "--out %s has the weights of the model: choose another file",
                    human_path(path).s);
    TRY(comm ? cell_ranks_fit(comm, &fit, config, &placement)
             : fit_make_on(&fit, config, &placement, NULL));
    TRY(file_tensor_list(&e.tensors, &fit.model));
    TRY(export_scales_find(&e.scales, &fit.model.plan));
    if (weights) TRY(weights_check(weights, &e.tensors, &config->model));
    TRY(check_fit(&e, &fit, &placement, weights != NULL));
    TRY(safetensors_open(&file, path));
    TRY(session_open(&session, &fit.binding, placement.device));
    TRY(session_join(&session, comm));
    TRY(take_buffers(&e));
    TRY(init_session(&session, &fit.model));
    if (weights) TRY(weights_load(&session, &fit.model, &e.tensors, weights));
    summary->weights = weights != NULL;
    snprintf(summary->fp8_left, sizeof summary->fp8_left, "%s", fit.model.fp8.left);
    TRY(run_and_write(&e, summary));
    session_drop_graphs(&session);
    comm_gpu_leave(comm);
    return ST_OK;
}
