/* Where a step's device time goes, op by op: every node of a plan is run many times in a row, so that
 * launches cost nothing and only the device's work is seen. Not a test: a table for people.
 * usage: op_times SIZE CTX PRECISION */
#include "base/stats.h"
#include "exec/init.h"
#include "exec/step_plan.h"
#include "ops/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 20, KINDS = 256 };

typedef struct Row {
    char name[128];
    int nodes;
    double seconds, flops, bytes; /* of all its nodes */
} Row;

static OpCall call_of(const Session *s, int n)
{
    return (OpCall){.backend = s->backend,
                    .plan = s->plan,
                    .node = &s->plan->nodes[n],
                    .memory = s->memory,
                    .workspace = (char *)s->arena + s->binding->mem.workspace[n],
                    .threads = 1,
                    .state = &s->state[n]};
}

static Status time_node(Session *s, int n, double *seconds)
{
    const OpCall call = call_of(s, n);
    const OpImpl *impl = &s->binding->impls[n];
    double best = 0;
    for (int round = 0; round < 3; round++) {
        TRY(s->api->mark(s->backend, 0));
        for (int i = 0; i < REPEATS; i++) TRY(impl->run(&call));
        TRY(s->api->mark(s->backend, 1));
        TRY(s->api->elapsed(s->backend, 0, 1, seconds));
        if (round == 0 || *seconds < best) best = *seconds;
    }
    *seconds = best / REPEATS;
    return ST_OK;
}

/* "matmul backward 1024x4096": nodes of one name cost the same. */
static void name_of(const Plan *plan, const Node *node, char name[128])
{
    const Tensor *out = plan_out(plan, node, 0);
    const Tensor *in = node->n_in > 0 ? plan_in(plan, node, 0) : NULL;
    snprintf(name, 128, "%s %s %lldx%lld <- %lldx%lld", plan_op_name(node->op),
             plan_phase_name(node->phase), (long long)plan_rows(out), (long long)plan_width(out),
             in ? (long long)plan_rows(in) : 0, in ? (long long)plan_width(in) : 0);
}

static Status measure(Session *s, Row *rows, int *n_rows)
{
    for (int n = 0; n < s->plan->n_nodes; n++) {
        const Node *node = &s->plan->nodes[n];
        char name[128];
        if (node->phase == PHASE_SETUP) continue;
        name_of(s->plan, node, name);
        int r = 0;
        while (r < *n_rows && strcmp(rows[r].name, name) != 0) r++;
        if (r == KINDS) continue;
        double seconds = 0;
        if (r == *n_rows) {
            memcpy(rows[r].name, name, sizeof name);
            ++*n_rows;
            TRY(time_node(s, n, &seconds));
        } else {
            seconds = rows[r].seconds / rows[r].nodes;
        }
        const OpCost cost = op_cost(s->plan, node);
        rows[r].nodes++;
        rows[r].seconds += seconds;
        rows[r].flops += cost.flops;
        rows[r].bytes += cost.bytes;
    }
    return ST_OK;
}

static int slower(const void *a, const void *b)
{
    const double x = ((const Row *)a)->seconds, y = ((const Row *)b)->seconds;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void print(Row *rows, int n)
{
    double sum = 0;
    qsort(rows, (size_t)n, sizeof *rows, slower);
    for (int i = 0; i < n; i++) sum += rows[i].seconds;
    printf("| op | nodes | total (ms) | each (us) | TFLOP/s | TB/s |\n|:--|--:|--:|--:|--:|--:|\n");
    for (int i = 0; i < n; i++) {
        const Row *r = &rows[i];
        printf("| %s | %d | %.3f | %.2f | %.0f | %.2f |\n", r->name, r->nodes, 1e3 * r->seconds,
               1e6 * r->seconds / r->nodes, r->flops / r->seconds * 1e-12,
               r->bytes / r->seconds * 1e-12);
    }
    printf("| sum | | %.3f | | | |\n", 1e3 * sum);
}

static Status run(const Config *config)
{
    static Model model;
    static Binding binding;
    static Row rows[KINDS];
    Session session;
    int n = 0;
    TRY(step_plan_make(&model, &binding, config, MODE_TRAIN, BACKEND_cuda, 0, 1));
    TRY(session_open(&session, &binding, 0));
    TRY(init_session(&session, &model));
    TRY(session_run_step(&session));
    TRY(session.api->sync(session.backend));
    TRY(measure(&session, rows, &n));
    print(rows, n);
    session_close(&session);
    return ST_OK;
}

int main(int argc, char **argv)
{
    Config config;
    config_defaults(&config);
    if (argc != 4 || model_spec_preset(&config.model, argv[1]) != ST_OK) return 2;
    config.ctx = atoll(argv[2]);
    config.precision = strcmp(argv[3], "bf16") == 0   ? PRECISION_BF16
                       : strcmp(argv[3], "fp16") == 0 ? PRECISION_FP16
                       : strcmp(argv[3], "tf32") == 0 ? PRECISION_TF32
                                                      : PRECISION_FP32;
    if (run(&config) == ST_OK) return 0;
    fprintf(stderr, "op_times: %s\n", status_message());
    return 1;
}
