/* A training step in every precision and execution style, so small that it can be run under
 * compute-sanitizer (tests/gpu/sanitize.sh): everything a cell does on the device, in one process.
 * usage: tiny_step [all|PRECISION [--clear-library-results]]
 *
 * compute-sanitizer does not see what some kernels of cuBLASLt and cuDNN write through the tensor
 * memory accelerator, and says then that ours read memory nobody wrote. With
 * --clear-library-results the results of library calls are cleared before the call, and so count as
 * written; what our own kernels read and write is checked as before. */
#include "backend/cuda_backend.h"
#include "bench/limits/placement.h"
#include "exec/init.h"
#include "exec/session.h"
#include "exec/step_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Shape {
    const char *name;
    int64_t d_model, d_ff, num_heads, vocab, ctx, batch;
} Shape;

/* Rows of whole packs, with heads cuDNN takes; and rows that no pack fits. */
static const Shape shapes[] = {{"whole packs", 64, 96, 4, 128, 16, 2},
                               {"odd", 30, 37, 3, 51, 7, 3}};

/* Every attention there is; auto is cuDNN where it can be. */
static const struct {
    Exec exec;
    Attention attention;
} styles[] = {{EXEC_EAGER, ATTENTION_AUTO},  {EXEC_FUSED, ATTENTION_AUTO},
              {EXEC_FUSED, ATTENTION_FUSED}, {EXEC_FUSED, ATTENTION_FLASH},
              {EXEC_GRAPH, ATTENTION_AUTO},  {EXEC_GRAPH, ATTENTION_FLASH}};

static bool clear_library_results;
static int capability;

/* Of fp8 every recipe, of others one: `recipe` 0. */
static Config config_of(const Shape *shape, Precision precision, int recipe, size_t style)
{
    Config c;
    config_defaults(&c);
    strcpy(c.model.size, "custom");
    c.model.d_model = shape->d_model;
    c.model.d_ff = shape->d_ff;
    c.model.num_layers = 2;
    c.model.num_heads = shape->num_heads;
    c.model.vocab = shape->vocab;
    c.ctx = shape->ctx;
    c.batch = shape->batch;
    c.precision = precision;
    c.fp8_recipe = (Fp8Recipe)recipe;
    c.exec = styles[style].exec;
    c.attention = styles[style].attention;
    c.clip = 1;
    c.accumulate = style == 2 || style == 5 ? 2 : 1; /* node by node, and in graphs */
    return c;
}

static bool shares_memory(const ObserverEvent *event, const Node *node, int out)
{
    const void *at = event->memory[plan_out_id(event->plan, node, out)];
    for (int i = 0; i < node->n_in; i++) {
        const int id = plan_in_id(event->plan, node, i);
        if (id != PLAN_NONE && event->memory[id] == at) return true;
    }
    return false;
}

static Status clear_tensor(const ObserverEvent *event, int id)
{
    const Tensor *t = &event->plan->tensors[id];
    const size_t size = plan_dtype_size(t->dtype);
    char *row = event->memory[id];
    for (int64_t r = 0; r < plan_rows(t); r++, row += (size_t)t->ld * size) {
        TRY(event->api->clear(event->backend, row, (size_t)plan_width(t) * size));
    }
    return ST_OK;
}

static Status before_node(void *self, const ObserverEvent *event)
{
    (void)self;
    const Node *node = &event->plan->nodes[event->node];
    if (strcmp(event->impl, "cublaslt") != 0 && strcmp(event->impl, "cudnn") != 0) return ST_OK;
    for (int i = 0; i < node->n_out; i++) {
        const int id = plan_out_id(event->plan, node, i);
        if (id == PLAN_NONE || shares_memory(event, node, i)) continue;
        TRY(clear_tensor(event, id));
    }
    return ST_OK;
}

/* Once node by node, then as a cell goes on: replayed where that was asked for. */
static Status run_steps(Session *s, const Model *model, Exec exec, float *loss)
{
    TRY(init_session(s, model));
    TRY(session_run_step(s));
    TRY(s->api->sync(s->backend));
    if (exec == EXEC_GRAPH) TRY(session_capture(s));
    TRY(session_run_step(s));
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) TRY(session_run(s, (Phase)phase));
    TRY(s->api->sync(s->backend));
    return session_download(s, model->loss, loss);
}

static Status run_cell(const Config *config, Attention *attention, float *loss)
{
    Model model;
    Binding binding;
    Session session;
    TRY(placement_check_gpu(config, capability));
    TRY(step_plan_make(&model, &binding, config, MODE_TRAIN, BACKEND_cuda, capability, 1));
    *attention = model.attention;
    Status status = session_open(&session, &binding, 0);
    if (status == ST_OK && clear_library_results) {
        status = session_observe(&session, (Observer){.begin = before_node});
    }
    if (status == ST_OK) status = run_steps(&session, &model, config->exec, loss);
    session_close(&session);
    binding_free(&binding);
    model_free(&model);
    return status;
}

/* Chips that lack nothing have nothing unsupported; scales of rows and blocks are on one chip alone. */
static bool may_lack(Precision precision, int recipe)
{
    const bool whole = recipe == FP8_RECIPE_CURRENT || recipe == FP8_RECIPE_DELAYED;
    if (precision == PRECISION_FP8) return capability < 89 || (!whole && capability != 90);
    return capability < 80 && precision != PRECISION_FP32;
}

/* False when the cell failed. */
static bool tell_cell(const Shape *shape, Precision precision, int recipe, size_t style)
{
    const Config config = config_of(shape, precision, recipe, style);
    Attention attention = ATTENTION_AUTO;
    float loss = NAN;
    const Status status = run_cell(&config, &attention, &loss);
    printf("%-4s %-7s %-5s %-11s ", config_precisions[precision],
           precision == PRECISION_FP8 ? config_fp8_recipes[recipe] : "", config_execs[config.exec],
           shape->name);
    if (status != ST_OK) {
        printf("%s: %s\n", status == ST_UNSUPPORTED ? "unsupported" : "failed", status_message());
    } else {
        printf("%-5s loss %.6f\n", config_attentions[attention], (double)loss);
    }
    fflush(stdout);
    if (status == ST_UNSUPPORTED) return may_lack(precision, recipe);
    return status == ST_OK && loss > 1 && loss < 10;
}

/* How many cells of a precision failed. */
static int tell_precision(Precision precision)
{
    const int recipes = precision == PRECISION_FP8 ? FP8_RECIPE_COUNT : 1;
    int failures = 0;
    for (int r = 0; r < recipes; r++) {
        for (size_t s = 0; s < sizeof styles / sizeof *styles; s++) {
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                /* odd sizes stay in bf16, which has cells of its own */
                if (precision == PRECISION_FP8 && shapes[i].batch * shapes[i].ctx % 16) continue;
                failures += !tell_cell(&shapes[i], precision, r, s);
            }
        }
    }
    return failures;
}

/* Not by BackendApi.capability, which forks: the sanitizers do not follow that. */
static Status ask_capability(void)
{
    Backend *be = NULL;
    TRY(backend_api(BACKEND_cuda)->open(&be, 0));
    capability = be->capability;
    backend_api(BACKEND_cuda)->close(be);
    return ST_OK;
}

int main(int argc, char **argv)
{
    int failures = 0, precisions = 0;
    if (ask_capability() != ST_OK) {
        printf("failed: %s\n", status_message());
        return 1;
    }
    const char *only = argc > 1 && strcmp(argv[1], "all") != 0 ? argv[1] : NULL;
    clear_library_results = argc > 2 && strcmp(argv[2], "--clear-library-results") == 0;
    for (int p = 0; p < PRECISION_COUNT; p++) {
        if (only && strcmp(only, config_precisions[p]) != 0) continue;
        precisions++;
        failures += tell_precision((Precision)p);
    }
    printf("%d cells failed\n", failures);
    return failures != 0 || precisions == 0;
}
