#include "bench/forecast/step_forecast.h"

#include "base/array.h"
#include "base/stats.h"
#include "bench/estimate/fit.h"
#include "bench/forecast/submit_queue.h"
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
    const EfficiencyHost *host; /* NULL: ops are captured, or the device is the host */
    SubmitQueue queue;
    StepForecastNodes *nodes; /* NULL: nobody asks for them */
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
    const Precision precision = efficiency_precision(node->op, w->model->config.precision);
    const EfficiencyWork work = work_of(&w->model->plan, node, w->model);
    const EfficiencyLine *line = efficiency_line(w->e, node->op, precision, impl, false);
    if (!line) {
        note_guessed(w->out, plan_op_name(node->op));
        line = efficiency_line(w->e, node->op, precision, impl, true);
    }
    const EfficiencyLine usual = line ? *line : efficiency_usual(w->e, node->op, precision);
    efficiency_parts(&usual, &work, &w->rates, precision, parts);
    parts[EFFICIENCY_START] += w->e->gap;
}

/* At the limits, from the bytes that the forecast goes by: in or out of caches. */
static double node_limit(const Work *w, const Node *node)
{
    const Precision precision = efficiency_precision(node->op, w->model->config.precision);
    const EfficiencyWork work = work_of(&w->model->plan, node, w->model);
    const double compute =
        efficiency_multiplies(node->op) ? work.flops / w->rates.flops[precision] : 0;
    return fmax(compute, work.bytes / w->rates.bandwidth);
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

static double sum_of(const double parts[EFFICIENCY_BOUNDS])
{
    double sum = 0;
    for (int b = 0; b < EFFICIENCY_BOUNDS; b++) sum += parts[b];
    return sum;
}

/* What it takes on the device, and what the device waits for the host before. */
static void put_wait(Work *w, Phase phase, double parts[EFFICIENCY_BOUNDS])
{
    const double seconds = sum_of(parts), host = w->host ? w->host->seconds[phase] : 0;
    if (w->nodes) w->nodes->of[w->nodes->n++] = (StepForecastNode){phase, seconds};
    parts[EFFICIENCY_SUBMIT] = submit_queue_add(&w->queue, phase, host, seconds);
}

static void add_node(Work *w, int i)
{
    const Plan *plan = &w->model->plan;
    const Node *node = &plan->nodes[i];
    const double runs = (double)plan_phase_runs(plan, node->phase);
    if (node->phase == PHASE_SETUP) return;
    double parts[EFFICIENCY_BOUNDS];
    node_parts(w, node, w->binding->impls[i].name, parts);
    put_wait(w, node->phase, parts);
    const double seconds = runs * sum_of(parts);
    for (int b = 0; b < EFFICIENCY_BOUNDS; b++) w->out->bound[b] += runs * parts[b];
    StepForecastOp *op = find_op(w, node);
    op->seconds += seconds;
    op->roof += runs * node_limit(w, node);
    w->out->phase[node->phase] += seconds;
    w->out->step += seconds;
    w->out->roof += runs * w->roof[i];
    w->out->roof_of[node->phase] += runs * w->roof[i];
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

/* Were steps measured in this precision, by which the host was fitted? */
static bool host_has(const EfficiencyHost *host, Precision precision)
{
    for (int i = 0; i < host->n_sources; i++) {
        const char *last = strrchr(host->sources[i], ' ');
        if (last && strcmp(last + 1, config_precisions[precision]) == 0) return true;
    }
    return false;
}

/* The error was measured on the device of the efficiencies, of ops that were measured; nobody measured it on
 * another. Few steps tell of it: hence Student's t. */
static void put_interval(const Work *w, const Limits *machine)
{
    const Efficiency *e = w->e;
    StepForecast *out = w->out;
    const LimitsKey *of = &e->measured_on, *here = &machine->key;
    const bool same = *of->gpu ? strcmp(of->gpu, here->gpu) == 0 : strcmp(of->cpu, here->cpu) == 0;
    const bool known = w->host ? host_has(w->host, w->model->config.precision) : !*out->guessed;
    const int n = w->host ? w->host->n_sources : e->n_sources;
    const bool measured = same && !machine->datasheet && known && n > 1;
    const double error =
        measured ? stats_t_quantile(0.95, n) * (w->host ? w->host->error : e->error) : NAN;
    out->low = out->step * exp(-error);
    out->high = out->step * exp(error);
}

static Status add_nodes(Work *w, const Limits *machine)
{
    const Plan *plan = &w->model->plan;
    CLEANUP(array_free) double *roof = calloc((size_t)plan->n_nodes + 1, sizeof *roof);
    CLEANUP(array_free)
    StepForecastOp *ops = calloc((size_t)plan->n_nodes + 1, sizeof *ops);
    if (w->nodes) w->nodes->of = calloc((size_t)plan->n_nodes + 1, sizeof *w->nodes->of);
    if (!roof || !ops || (w->nodes && !w->nodes->of)) return NO_MEMORY("to forecast a step");
    w->roof = roof;
    w->ops = ops;
    const Limits reached = efficiency_limits(w->e, machine);
    roofline_nodes(plan, &reached, w->model->config.precision, roof);
    for (int i = 0; i < plan->n_nodes; i++) add_node(w, i);
    put_top(w);
    put_interval(w, machine);
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

/* Of a GPU whose ops are submitted one by one; NULL for all else. */
static Status find_host(Work *w, const Config *config, EfficiencyProgram program)
{
    const bool torch = program == EFFICIENCY_TORCH;
    if (!torch && config->exec == EXEC_GRAPH) return ST_OK;
    w->host = efficiency_host(w->e, program, config->exec);
    if (w->host) return ST_OK;
    if (torch)
        return FAIL(ST_UNSUPPORTED, "the efficiencies have no host of PyTorch: --fit takes its "
                                    "rows of bench --peer torch --peer-variant eager");
    return FAIL(ST_UNSUPPORTED,
                "--exec %s is not forecast by these efficiencies, because its host was not "
                "measured: use --exec graph",
                config_execs[config->exec]);
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
    return ST_OK;
}

static Status make(Work *w, const Config *config, const Limits *machine)
{
    Placement *placement = &w->out->placement;
    TRY(placement_on(config, machine, placement));
    if (!efficiency_rates(w->e, machine, config->precision, &w->rates))
        return FAIL(ST_UNSUPPORTED, "nothing is known of its rate in %s",
                    config_precisions[config->precision]);
    return plan_and_add(w, config, placement, machine);
}

Status step_forecast_make(StepForecast *out, const Efficiency *e, const Config *config,
                          EfficiencyProgram program, const Limits *machine)
{
    Work w = {.out = out, .e = e};
    *out =
        (StepForecast){.tokens = config_tokens(config), .watts = datasheet_watts(machine->key.gpu)};
    Status status = check(e, config, machine);
    if (status == ST_OK && *machine->key.gpu) status = find_host(&w, config, program);
    if (status == ST_OK) status = make(&w, config, machine);
    if (status != ST_UNSUPPORTED) return status;
    *out = (StepForecast){0};
    snprintf(out->why, sizeof out->why, "%s", status_message());
    out->low = out->high = NAN;
    return ST_OK;
}

Status step_forecast_nodes(StepForecastNodes *nodes, const Efficiency *e, const Config *config,
                           const Limits *machine)
{
    StepForecast out = {0};
    Work w = {.out = &out, .e = e, .nodes = nodes};
    TRY(check(e, config, machine));
    return make(&w, config, machine);
}

double step_forecast_tokens_per_s(const StepForecast *f)
{
    return f->tokens / f->step;
}

double step_forecast_joules_per_token(const StepForecast *f)
{
    return f->watts > 0 ? f->watts * f->step / f->tokens : NAN;
}
