#include "bench/forecast/step_forecast.h"

#include "base/array.h"
#include "base/stats.h"
#include "bench/estimate/fit.h"
#include "bench/limits/datasheet.h"
#include "bench/limits/roofline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static EfficiencyWork work_of(const Plan *plan, const Node *node, const Model *model)
{
    const OpCost cost = op_cost(plan, node);
    EfficiencyWork work = {.flops = cost.flops, .bytes = cost.bytes};
    if (efficiency_has_scores(node->op))
        work.scores = cost.flops / (4 * (double)model_spec_head_dim(&model->config.model));
    return work;
}

typedef struct Work {
    StepForecast *out;
    const Efficiency *e;
    const Model *model;
    const Binding *binding;
    EfficiencyRates rates;
    double *roof; /* of each node */
    StepForecastOp *ops;
    int n_ops;
} Work;

/* Ops whose line was measured otherwise, once each. */
static void note_guessed(StepForecast *out, const char *op)
{
    const size_t n = strlen(out->guessed), size = sizeof out->guessed, length = strlen(op);
    const char *there = strstr(out->guessed, op);
    if (there && (there[length] == '\0' || there[length] == ',')) return;
    if (n + length + 3 > size) return;
    snprintf(out->guessed + n, size - n, "%s%s", n ? ", " : "", op);
}

static void node_parts(Work *w, const Node *node, const char *impl, double parts[EFFICIENCY_BOUNDS])
{
    static const EfficiencyLine roof = {.flops = 1, .bytes = 1};
    const Precision precision = efficiency_precision(node->op, w->model->config.precision);
    const EfficiencyWork work = work_of(&w->model->plan, node, w->model);
    const EfficiencyLine *line = efficiency_line(w->e, node->op, precision, impl, false);
    if (!line) {
        note_guessed(w->out, plan_op_name(node->op));
        line = efficiency_line(w->e, node->op, precision, impl, true);
    }
    efficiency_parts(line ? line : &roof, &work, &w->rates, precision, parts);
    parts[EFFICIENCY_START] += w->e->gap;
}

/* "layer.3/ffn/w2" is "ffn/w2" of all blocks. */
static const char *scope_of(const Node *node)
{
    const char *slash = strchr(node->scope, '/');
    return node->layer != PLAN_NONE && slash ? slash + 1 : node->scope;
}

static StepForecastOp *find_op(Work *w, const Node *node)
{
    const char *scope = scope_of(node);
    for (int i = 0; i < w->n_ops; i++) {
        StepForecastOp *op = &w->ops[i];
        if (op->op == node->op && op->phase == node->phase && strcmp(op->scope, scope) == 0)
            return op;
    }
    StepForecastOp *op = &w->ops[w->n_ops++];
    *op = (StepForecastOp){.op = node->op, .phase = node->phase};
    snprintf(op->scope, sizeof op->scope, "%s", scope);
    return op;
}

static void add_node(Work *w, int i)
{
    const Plan *plan = &w->model->plan;
    const Node *node = &plan->nodes[i];
    const double runs = (double)plan_phase_runs(plan, node->phase);
    if (node->phase == PHASE_SETUP) return;
    double parts[EFFICIENCY_BOUNDS], seconds = 0;
    node_parts(w, node, w->binding->impls[i].name, parts);
    for (int b = 0; b < EFFICIENCY_BOUNDS; b++) {
        w->out->bound[b] += runs * parts[b];
        seconds += runs * parts[b];
    }
    StepForecastOp *op = find_op(w, node);
    op->seconds += seconds;
    op->roof += runs * w->roof[i];
    w->out->phase[node->phase] += seconds;
    w->out->step += seconds;
    w->out->roof += runs * w->roof[i];
}

/* What is lost beside the limit, the most first: what would change first. */
static int by_loss(const void *a, const void *b)
{
    const StepForecastOp *x = a, *y = b;
    const double lost = y->seconds - y->roof - (x->seconds - x->roof);
    return (lost > 0) - (lost < 0);
}

static void put_top(Work *w)
{
    qsort(w->ops, (size_t)w->n_ops, sizeof *w->ops, by_loss);
    for (int i = 0; i < w->n_ops && i < STEP_FORECAST_TOP; i++)
        w->out->top[w->out->n_top++] = w->ops[i];
}

/* The error was measured on the device of the efficiencies, of ops that were measured; nobody measured it on
 * another. Few steps tell of it: hence Student's t. */
static void put_interval(StepForecast *out, const Efficiency *e, const Limits *machine)
{
    const LimitsKey *of = &e->measured_on, *here = &machine->key;
    const bool same = *of->gpu ? strcmp(of->gpu, here->gpu) == 0 : strcmp(of->cpu, here->cpu) == 0;
    const bool measured = same && !machine->datasheet && !*out->guessed && e->n_sources > 1;
    const double error = measured ? stats_t_quantile(0.95, e->n_sources) * e->error : NAN;
    out->low = out->step * exp(-error);
    out->high = out->step * exp(error);
}

static Status add_nodes(Work *w, const Limits *machine)
{
    const Plan *plan = &w->model->plan;
    CLEANUP(array_free) double *roof = calloc((size_t)plan->n_nodes + 1, sizeof *roof);
    CLEANUP(array_free)
    StepForecastOp *ops = calloc((size_t)plan->n_nodes + 1, sizeof *ops);
    if (!roof || !ops) return NO_MEMORY("to forecast a step");
    w->roof = roof;
    w->ops = ops;
    roofline_nodes(plan, machine, w->model->config.precision, roof);
    for (int i = 0; i < plan->n_nodes; i++) add_node(w, i);
    put_top(w);
    put_interval(w->out, w->e, machine);
    return ST_OK;
}

static Status plan_and_add(Work *w, const Config *config, const Placement *placement,
                           const Limits *machine)
{
    CLEANUP(model_free) Model model = {0};
    CLEANUP(binding_free) Binding binding = {0};
    Config settled;
    size_t resident = 0, available = 0;
    TRY(fit_resident(&resident));
    TRY(fit_available(config, placement, machine, resident, &available));
    TRY(fit_settle_recompute(config, placement, config->mode, resident, available, &settled));
    TRY(placement_plan(placement, &settled, settled.mode, &model, &binding));
    w->model = &model;
    w->binding = &binding;
    w->out->need = mem_plan_total(&binding.mem) + fit_allowance(placement) + resident;
    w->out->available = available;
    w->out->attention = model.attention;
    return add_nodes(w, machine);
}

static Status check(const Efficiency *e, const Config *config, const Limits *machine)
{
    const bool gpu = *machine->key.gpu != '\0';
    if (gpu != (*e->measured_on.gpu != '\0'))
        return FAIL(ST_UNSUPPORTED,
                    "the efficiencies are of a %s, and this is a %s: --efficiency FILE, as "
                    "roofstep forecast --fit writes it",
                    gpu ? "CPU" : "GPU", gpu ? "GPU" : "CPU");
    if (config->ranks > 1)
        return FAIL(ST_UNSUPPORTED, "ranks are forecast by roofstep plan --ranks");
    if (gpu && config->exec != EXEC_GRAPH)
        return FAIL(
            ST_UNSUPPORTED,
            "--exec %s is not forecast yet, because its host was not measured: use --exec graph",
            config_execs[config->exec]);
    return ST_OK;
}

static Status make(StepForecast *out, const Efficiency *e, const Config *config,
                   const Limits *machine)
{
    Work w = {.out = out, .e = e};
    TRY(check(e, config, machine));
    TRY(placement_on(config, machine, &out->placement));
    if (!efficiency_rates(e, machine, config->precision, &w.rates))
        return FAIL(ST_UNSUPPORTED, "nothing is known of its rate in %s",
                    config_precisions[config->precision]);
    return plan_and_add(&w, config, &out->placement, machine);
}

Status step_forecast_make(StepForecast *out, const Efficiency *e, const Config *config,
                          const Limits *machine)
{
    *out =
        (StepForecast){.tokens = config_tokens(config), .watts = datasheet_watts(machine->key.gpu)};
    const Status status = make(out, e, config, machine);
    if (status != ST_UNSUPPORTED) return status;
    *out = (StepForecast){0};
    snprintf(out->why, sizeof out->why, "%s", status_message());
    out->low = out->high = NAN;
    return ST_OK;
}

double step_forecast_tokens_per_s(const StepForecast *f)
{
    return f->tokens / f->step;
}

double step_forecast_joules_per_token(const StepForecast *f)
{
    return f->watts > 0 ? f->watts * f->step / f->tokens : NAN;
}
