#include "bench/cell/cell_facts.h"

#include "base/json_text.h"
#include "bench/cell/expert_load.h"
#include "bench/estimate/time_estimate.h"
#include "comm/comm.h"
#include "model/step_cost.h"
#include "model/transform_recompute.h"
#include "ops/cpu/matmul_cpu.h"
#include "plan/step_state.h"

#include <math.h>

static const double mib = 1024.0 * 1024.0;

static Status put_shortages(Record *r, const Config *config, const Fit *fit)
{
    static const Mode first[] = {MODE_FWD, MODE_FWD_BWD, MODE_TRAIN}; /* with the phase in it */
    for (int s = SAMPLE_FORWARD; s <= SAMPLE_OPTIMIZER; s++) {
        const Mode mode = first[s];
        if (mode > config->mode || (fit->fits && mode <= fit->mode)) continue;
        TRY(record_put_phase(r, sample_series_name((SampleSeries)s), RECORD_OOM,
                             fit_shortage(fit, mode).s));
    }
    return ST_OK;
}

/* What MFU and the share of the roof are computed from, when this machine's limits are known. */
static Status put_roofline(Record *r, const CellOpen *cell)
{
    const TimeEstimate estimate =
        time_estimate_roofline(cell->config, cell->placement, NULL, &cell->fit->model.plan);
    const double ranks = (double)plan_ranks(&cell->fit->model.plan);
    const double sharing = fmax(cell->placement->sharing, 1); /* of one GPU */
    TRY(record_put_number(r, "limit_tflops", ranks / sharing * estimate.peak_flops * 1e-12));
    if (estimate.busy > 0) TRY(record_put_number(r, "limit_busy_percent", 100 * estimate.busy));
    return record_put_number(r, "limit_step_ms", sharing * estimate.roof_seconds * 1e3);
}

/* What is recomputed, its cost in FLOPs, and the memory it saves. */
static Status put_recompute(Record *r, const Placement *placement, const Fit *fit, double flops)
{
    const Config *c = &fit->model.config;
    const int64_t blocks = fit->mode == MODE_FWD ? 0 : transform_recompute_blocks(c);
    size_t saved = 0;
    TRY(record_put_text(r, "recompute", config_recompute_text(c->recompute).s));
    if (blocks == 0) return ST_OK;
    TRY(fit_recompute_saves(fit, placement, &saved));
    TRY(record_put_int(r, "recomputed_blocks", blocks));
    TRY(record_put_number(r, "recompute_flops", flops));
    return record_put_number(r, "recompute_saved_mib", (double)saved / mib);
}

/* Without it forward is what its name says. */
static Status put_chunks(Record *r, const Fit *fit)
{
    const int chunks = fit->model.head.n;
    return chunks > 1 ? record_put_int(r, "logits_chunks", chunks) : ST_OK;
}

/* FLOPs of the matmuls; of attention alone, which is compared phase by phase, also by phase. */
static Status put_flops(Record *r, const CellOpen *cell)
{
    const Mode mode = cell->fit->mode;
    const StepCost cost = step_cost_of(&cell->fit->model.plan);
    const double ranks = (double)plan_ranks(&cell->fit->model.plan);
    TRY(record_put_number(r, "flops_per_step", ranks * cost.step.matmul_flops));
    TRY(put_chunks(r, cell->fit));
    if (cell->config->subject == SUBJECT_MODEL)
        return put_recompute(r, cell->placement, cell->fit, ranks * cost.step.recomputed_flops);
    TRY(record_put_number(r, "forward_flops", cost.phase[PHASE_FORWARD].matmul_flops));
    if (!config_mode_has_backward(mode)) return ST_OK;
    return record_put_number(r, "backward_flops", cost.phase[PHASE_BACKWARD].matmul_flops);
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

static Status put_planned(Record *r, const CellOpen *cell)
{
    const Placement *placement = cell->placement;
    const Fit *fit = cell->fit;
    TRY(record_put_text(r, "device", placement->name));
    TRY(record_put_int(r, "threads", placement->threads));
    if (placement->backend == BACKEND_cpu && cell->config->precision != PRECISION_FP8)
        TRY(put_blas(r, &fit->binding));
    TRY(record_put_text(r, "attention", config_attentions[fit->model.attention]));
    if (fit->model.n_elements > 0) TRY(record_put_int(r, "parameters", fit->model.n_elements));
    if (fit->before_backward > 0)
        TRY(record_put_number(r, "mem_before_bwd_mib", (double)fit->before_backward / mib));
    if (fit->model.config.precision == PRECISION_FP8) /* what `auto` became */
        TRY(record_put_text(r, "fp8_layers", config_linears_text(fit->model.config.fp8_layers).s));
    if (*fit->model.fp8.left) TRY(record_put_text(r, "fp8_left", fit->model.fp8.left));
    TRY(put_shortages(r, cell->config, fit));
    if (!fit->fits) return ST_OK;
    TRY(record_put_text(r, "measured_mode", config_modes[fit->mode]));
    TRY(put_flops(r, cell));
    TRY(put_roofline(r, cell));
    return record_put_number(r, "planned_peak_mib",
                             (double)mem_plan_total(&fit->binding.mem) / mib);
}

Status cell_facts_planned(const CellOpen *cell)
{
    CLEANUP(json_text_free) Record *r = json_object();
    TRY(put_planned(r, cell));
    return cell_link_facts(cell->link, r);
}

/* ---- after the run ---- */

/* Everything a GPU cell holds there beside its plan: context, code of kernels, the libraries' own buffers.
 * On a CPU: packing buffers, stacks, code. */
static double library_bytes(const Placement *placement, const CellBaseline *before, double held,
                            double reserved)
{
    if (placement->sharing > 1) return (double)NAN; /* other ranks hold some of it */
    if (placement->backend != BACKEND_cpu) held = gpu_memory_grown(&before->gpu, placement->device);
    return isnan(held) ? held : fmax(held - reserved, 0);
}

static Status add_touched(const Session *s, void *memory, size_t held, size_t *bytes)
{
    size_t part = 0;
    if (!memory) return ST_OK;
    TRY(s->api->touched(s->backend, memory, held, &part));
    *bytes += part;
    return ST_OK;
}

static Status touched(const Session *s, size_t *bytes)
{
    const MemPlan *mem = &s->binding->mem;
    for (int k = 0; k < TK_COUNT; k++) TRY(add_touched(s, s->region[k], mem->region[k], bytes));
    TRY(add_touched(s, s->arena, session_own_arena(s), bytes));
    return add_touched(s, s->common, mem->arena - mem->common, bytes);
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

/* Ranks that may share a GPU release theirs one after the other: each looks at what becomes free. NCCL may
 * have made the memory of one known to others, so it ends before. */
static Status release_in_turn(Session *s, size_t *bytes)
{
    if (!s->comm || s->api->touched) return release_memory(s, bytes);
    session_drop_graphs(s);
    comm_gpu_leave(s->comm);
    TRY(comm_barrier(s->comm));
    for (int r = 0; r < comm_ranks(s->comm); r++) {
        if (r == comm_rank(s->comm)) TRY(release_memory(s, bytes));
        TRY(comm_barrier(s->comm));
    }
    return ST_OK;
}

static Status put_memory(Record *r, const CellOpen *cell, const CellBaseline *before, bool last)
{
    const MemPlan *mem = &cell->fit->binding.mem;
    size_t taken = 0;
    const double reserved = (double)mem_plan_total(mem);
    Rss now;
    TRY(rss_read(&now));
    const double held = fmax((double)now.peak - (double)before->rss.now, 0);
    TRY(record_put_number(r, "peak_alloc_mib", (double)mem->peak_live / mib));
    TRY(record_put_number(r, "peak_reserved_mib", reserved / mib));
    TRY(record_put_number(r, "rss_peak_mib", held / mib));
    TRY(record_put_number(r, "library_mib",
                          library_bytes(cell->placement, before, held, reserved) / mib));
    if (!last) return ST_OK;
    TRY(release_in_turn(cell->session, &taken));
    return record_put_number(r, "device_peak_mib", (double)taken / mib);
}

static Status put_training(Record *r, const CellOpen *cell)
{
    const Model *model = &cell->fit->model;
    Comm *comm = cell->session->comm;
    float loss = 0;
    double state[STATE_COUNT] = {0};
    TRY(session_download(cell->session, model->loss, &loss));
    if (comm) /* the mean over all ranks */
        TRY(comm_all_reduce(comm, &loss, &loss, 1, DT_F32, 1 / (float)comm_ranks(comm)));
    TRY(record_put_number(r, "loss", (double)loss));
    TRY(expert_load_put(r, cell->session, model));
    if (!isfinite(loss))
        TRY(cell_link_warning(
            cell->link,
            "the loss of the last step is not a finite number: the training diverged at "
            "--lr %g; a smaller one, or --clip, helps",
            model->config.lr));
    if (cell->fit->mode != MODE_TRAIN) return ST_OK;
    TRY(session_download(cell->session, model->state, state));
    return record_put_int(r, "skipped_steps", (int64_t)state[STATE_SKIPPED]);
}

Status cell_facts_trained(const CellOpen *cell)
{
    CLEANUP(json_text_free) Record *r = json_object();
    if (cell->fit->model.loss == PLAN_NONE) return ST_OK;
    TRY(put_training(r, cell));
    return cell_link_facts(cell->link, r);
}

Status cell_facts_measured(const CellOpen *cell, const CellBaseline *before, bool last)
{
    CLEANUP(json_text_free) Record *r = json_object();
    TRY(put_memory(r, cell, before, last));
    return cell_link_facts(cell->link, r);
}
