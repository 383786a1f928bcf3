#include "bench/cell/cell_facts.h"

#include "bench/estimate/step_cost.h"
#include "bench/estimate/time_estimate.h"
#include "model/transform_recompute.h"
#include "ops/cpu/matmul_cpu.h"
#include "plan/step_state.h"

#include <math.h>
#include <stdio.h>

static const double mib = 1024.0 * 1024.0;
static const double least_seconds = 0.5; /* of CPU time: the kernel counts in hundredths */

/* Takes the facts over. `status`: whether they were put together. */
static Status send_facts(CellLink *link, Status status, Record *facts)
{
    if (!facts) return NO_MEMORY("for the facts of a cell");
    if (status == ST_OK) status = cell_link_facts(link, facts);
    json_decref(facts);
    return status;
}

/* A phase is there from this mode on. */
static Mode mode_of(SampleSeries series)
{
    return series == SAMPLE_FORWARD    ? MODE_FWD
           : series == SAMPLE_BACKWARD ? MODE_FWD_BWD
                                       : MODE_TRAIN;
}

static Status put_shortages(Record *r, const Config *config, const Fit *fit)
{
    for (int s = SAMPLE_FORWARD; s <= SAMPLE_OPTIMIZER; s++) {
        const Mode mode = mode_of((SampleSeries)s);
        if (mode > config->mode || (fit->fits && mode <= fit->mode)) continue;
        TRY(record_put_phase(r, sample_series_name((SampleSeries)s), RECORD_OOM,
                             fit_shortage(fit, mode).s));
    }
    return ST_OK;
}

/* What MFU and the share of the roof are computed from, when this machine's limits are known. */
static Status put_roofline(Record *r, const Config *config, const Placement *placement,
                           const Fit *fit)
{
    const TimeEstimate estimate =
        time_estimate_roofline(config, placement, NULL, &fit->model->plan);
    TRY(record_put_number(r, "limit_tflops", estimate.peak_flops * 1e-12));
    return record_put_number(r, "limit_step_ms", estimate.roof_seconds * 1e3);
}

/* FLOPs of the matmuls of each phase: attention is compared phase by phase. */
static Status put_phase_flops(Record *r, const Plan *plan, Mode mode)
{
    const StepCost cost = step_cost_of(plan);
    TRY(record_put_number(r, "forward_flops", cost.phase[PHASE_FORWARD].matmul_flops));
    if (!config_mode_has_backward(mode)) return ST_OK;
    return record_put_number(r, "backward_flops", cost.phase[PHASE_BACKWARD].matmul_flops);
}

/* What is recomputed, its cost in FLOPs, and the memory it saves. */
static Status put_recompute(Record *r, const Placement *placement, const Fit *fit)
{
    const Config *c = &fit->model->config;
    const int64_t blocks = fit->mode == MODE_FWD ? 0 : transform_recompute_blocks(c);
    size_t saved = 0;
    TRY(record_put_text(r, "recompute", config_recompute_text(c->recompute).s));
    if (blocks == 0) return ST_OK;
    TRY(fit_recompute_saves(fit, placement, &saved));
    TRY(record_put_int(r, "recomputed_blocks", blocks));
    TRY(record_put_number(r, "recompute_flops", model_flops_recomputed(fit->model)));
    return record_put_number(r, "recompute_saved_mib", (double)saved / mib);
}

/* Which library computes the matmuls: of linear layers, or of attention where it is alone. */
static Status put_blas(Record *r, const Binding *binding)
{
    CLEANUP(text_free) Text by = {0};
    for (int i = 0; by.n == 0 && i < binding->plan->n_nodes; i++) {
        const Node *node = &binding->plan->nodes[i];
        if (node->op == OP_matmul || node->op == OP_bmm || node->op == OP_attention) {
            matmul_by(binding->plan, node, &binding->impls[i], &by);
        }
    }
    TRY(text_status(&by));
    return record_put_text(r, "blas", text_str(&by));
}

static Status put_planned(Record *r, const Config *config, const Placement *placement,
                          const Fit *fit)
{
    TRY(record_put_text(r, "device", placement->name));
    TRY(record_put_int(r, "threads", placement->threads));
    if (placement->backend == BACKEND_cpu) TRY(put_blas(r, &fit->binding));
    TRY(record_put_text(r, "attention", config_attentions[fit->model->attention]));
    if (fit->model->n_elements > 0) TRY(record_put_int(r, "parameters", fit->model->n_elements));
    if (fit->before_backward > 0)
        TRY(record_put_number(r, "mem_before_bwd_mib", (double)fit->before_backward / mib));
    TRY(put_shortages(r, config, fit));
    if (!fit->fits) return ST_OK;
    TRY(record_put_text(r, "measured_mode", config_modes[fit->mode]));
    TRY(record_put_number(r, "flops_per_step", model_flops(fit->model)));
    if (config->subject == SUBJECT_MODEL) TRY(put_recompute(r, placement, fit));
    if (config->subject == SUBJECT_ATTENTION) TRY(put_phase_flops(r, &fit->model->plan, fit->mode));
    TRY(put_roofline(r, config, placement, fit));
    return record_put_number(r, "planned_peak_mib",
                             (double)mem_plan_total(&fit->binding.mem) / mib);
}

Status cell_facts_planned(CellLink *link, const Config *config, const Placement *placement,
                          const Fit *fit)
{
    Record *r = json_object();
    return send_facts(link, put_planned(r, config, placement, fit), r);
}

Status cell_facts_started(CellLink *link, const CellStart *start)
{
    const double ms = 1e3;
    return send_facts(link, ST_OK,
                      json_pack("{s:f, s:f, s:f}", "plan_ms", start->plan * ms, "open_ms",
                                start->open * ms, "prepare_ms", start->prepare * ms));
}

static double milliseconds(const struct timeval *t)
{
    return 1e3 * (double)t->tv_sec + 1e-3 * (double)t->tv_usec;
}

Status cell_facts_first_step(CellLink *link, double seconds, const struct rusage *before,
                             double capture_seconds)
{
    struct rusage now;
    getrusage(RUSAGE_SELF, &now);
    const double kernel = milliseconds(&now.ru_stime) - milliseconds(&before->ru_stime);
    const int64_t faults = now.ru_minflt + now.ru_majflt - before->ru_minflt - before->ru_majflt;
    Record *r = json_pack("{s:f, s:f, s:I}", "cold_step_ms", seconds * 1e3, "cold_system_ms",
                          fmax(kernel, 0), "cold_page_faults", (json_int_t)faults);
    const Status status = capture_seconds > 0 && r
                              ? record_put_number(r, "capture_ms", capture_seconds * 1e3)
                              : ST_OK;
    return send_facts(link, status, r);
}

/* Other programs matter where the CPU computes. */
Status cell_facts_interference(CellLink *link, const Placement *placement,
                               const Interference *before)
{
    const InterferenceShares shares = interference_since(before);
    const bool computes = placement->backend == BACKEND_cpu;
    if (shares.seconds < least_seconds) return ST_OK;
    Record *r = json_pack("{s:f}", "stolen_percent", 100 * shares.steal);
    const Status status =
        computes && r ? record_put_number(r, "others_percent", 100 * shares.others) : ST_OK;
    return send_facts(link, status, r);
}

/* ---- after the run ---- */

/* Everything a GPU cell holds there beside its plan: context, code of kernels, the libraries' own buffers.
 * On a CPU: packing buffers, stacks, code. */
static double library_bytes(const Placement *placement, const CellBaseline *before, double held,
                            double reserved)
{
    if (placement->backend != BACKEND_cpu) held = gpu_memory_grown(&before->gpu, placement->device);
    return isnan(held) ? held : fmax(held - reserved, 0);
}

static Status touched(const Session *s, size_t *bytes)
{
    const MemPlan *mem = &s->binding->mem;
    size_t part = 0;
    for (int k = 0; k <= TK_COUNT; k++) {
        void *memory = k < TK_COUNT ? s->region[k] : s->arena;
        if (!memory) continue;
        TRY(s->api->touched(s->backend, memory, k < TK_COUNT ? mem->region[k] : mem->arena, &part));
        *bytes += part;
    }
    return ST_OK;
}

/* Bytes that the regions and the arena of the session hold: on a CPU the pages that were touched,
 * elsewhere what becomes free when they are released, the libraries being warm. Releases the
 * memory; session_close() is still due. */
static Status release_memory(Session *s, size_t *bytes)
{
    size_t before = 0, after = 0;
    *bytes = 0;
    if (s->api->touched) {
        TRY(touched(s, bytes));
        session_release(s);
        return ST_OK;
    }
    TRY(s->api->sync(s->backend));
    TRY(s->api->available(s->backend, &before));
    session_release(s);
    TRY(s->api->available(s->backend, &after));
    *bytes = after > before ? after - before : 0;
    return ST_OK;
}

static Status put_memory(Record *r, Session *session, const Placement *placement, const Fit *fit,
                         const CellBaseline *before, bool last)
{
    size_t taken = 0;
    const double reserved = (double)mem_plan_total(&fit->binding.mem);
    Rss now;
    TRY(rss_read(&now));
    const double held = fmax((double)now.peak - (double)before->rss.now, 0);
    TRY(record_put_number(r, "peak_alloc_mib", (double)fit->binding.mem.peak_live / mib));
    TRY(record_put_number(r, "peak_reserved_mib", reserved / mib));
    TRY(record_put_number(r, "rss_peak_mib", held / mib));
    TRY(record_put_number(r, "library_mib",
                          library_bytes(placement, before, held, reserved) / mib));
    if (!last) return ST_OK;
    TRY(release_memory(session, &taken));
    return record_put_number(r, "device_peak_mib", (double)taken / mib);
}

static Status warn_of_loss(CellLink *link, const Config *config, float loss)
{
    if (isfinite(loss)) return ST_OK;
    return cell_link_warning(
        link,
        "the loss of the last step is not a finite number: the training diverged at "
        "--lr %g; a smaller one, or --clip, helps",
        config->lr);
}

static Status put_training(CellLink *link, Record *r, Session *session, const Fit *fit)
{
    const Model *model = fit->model;
    float loss = 0;
    double state[STATE_COUNT] = {0};
    TRY(session_download(session, model->loss, &loss));
    TRY(record_put_number(r, "loss", (double)loss));
    TRY(warn_of_loss(link, &model->config, loss));
    if (fit->mode == MODE_TRAIN) {
        TRY(session_download(session, model->state, state));
        TRY(record_put_int(r, "skipped_steps", (int64_t)state[STATE_SKIPPED]));
    }
    return ST_OK;
}

static Status put_measured(CellLink *link, Record *r, Session *session, const Placement *placement,
                           const Fit *fit, const CellBaseline *before, bool last)
{
    if (fit->model->loss != PLAN_NONE) TRY(put_training(link, r, session, fit));
    return put_memory(r, session, placement, fit, before, last);
}

Status cell_facts_measured(CellLink *link, Session *session, const Placement *placement,
                           const Fit *fit, const CellBaseline *before, bool last)
{
    Record *r = json_object();
    return send_facts(link, put_measured(link, r, session, placement, fit, before, last), r);
}

Status cell_facts_end(CellLink *link, Mode asked, const Fit *fit)
{
    if (fit->fits && fit->mode == asked) return cell_link_end(link, RECORD_OK, NULL);
    char text[200];
    snprintf(text, sizeof text, "%s %s", config_modes[asked], fit_shortage(fit, asked).s);
    return cell_link_end(link, RECORD_OOM, text);
}
