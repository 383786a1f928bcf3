/* How long attention takes on a GPU, forward and backward, for people.
 * usage: attention_times IMPLEMENTATIONS PRECISIONS WIDTHS TOKENS [BATCH [HEADS [full]]]
 *        attention_times flash,cudnn bf16,fp32 64,128 512,4096,16384 8 16
 * TFLOP/s count 2 products forward and 5 backward, half of each when causal. */
#include "attention_plan.h"
#include "base/status.h"
#include "ops/element.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 3, MOST = 64, BLOCK = 1 << 20 };

typedef struct Run {
    Binding binding;
    Session session;
} Run;

/* The same million numbers over and over. */
static Status fill(Session *s, int id, double size)
{
    const Tensor *t = &s->plan->tensors[id];
    const size_t width = plan_dtype_size(t->dtype);
    char *block = malloc(BLOCK * width);
    if (!block) return NO_MEMORY("for numbers");
    for (int i = 0; i < BLOCK; i++) {
        const double x = (double)rand() / RAND_MAX + (double)rand() / RAND_MAX - 1;
        element_set(block, t->dtype, i, size * x);
    }
    Status status = ST_OK;
    const size_t all = plan_bytes(t);
    for (size_t at = 0; status == ST_OK && at < all; at += BLOCK * width) {
        const size_t bytes = all - at < BLOCK * width ? all - at : BLOCK * width;
        status = s->api->upload(s->backend, (char *)s->memory[id] + at, block, bytes);
    }
    free(block);
    return status;
}

static Status time_runs(Session *s, Phase phase, int n, double *seconds)
{
    TRY(s->api->mark(s->backend, 0));
    for (int i = 0; i < n; i++) TRY(session_run(s, phase));
    TRY(s->api->mark(s->backend, 1));
    TRY(s->api->elapsed(s->backend, 0, 1, seconds));
    *seconds /= n;
    return ST_OK;
}

/* The best of some rounds, each long enough. */
static Status time_phase(Session *s, Phase phase, double *best)
{
    double seconds = 0;
    TRY(time_runs(s, phase, 1, &seconds));
    TRY(time_runs(s, phase, 1, &seconds));
    const double wanted = 0.1 / seconds;
    const int n = wanted < 1 ? 1 : wanted > 500 ? 500 : (int)wanted;
    *best = seconds;
    for (int i = 0; i < ROUNDS; i++) {
        TRY(time_runs(s, phase, n, &seconds));
        if (seconds < *best) *best = seconds;
    }
    return ST_OK;
}

static Status measure(Run *run, const AttentionPlan *p, const char *impl, double time[2])
{
    OpImpl chosen;
    for (int i = 0; i < p->plan.n_nodes; i++) {
        TRY(op_choose(&p->plan, &p->plan.nodes[i], BACKEND_cuda, impl, &chosen));
    }
    TRY(binding_make(&run->binding, &p->plan, BACKEND_cuda, 1, (const char *const[]){impl, NULL}));
    TRY(session_open(&run->session, &run->binding, 0));
    TRY(fill(&run->session, p->qkv, 1.7)); /* variance of about 1/2 */
    TRY(fill(&run->session, p->dout, 0.01));
    TRY(time_phase(&run->session, PHASE_FORWARD, &time[0]));
    return time_phase(&run->session, PHASE_BACKWARD, &time[1]);
}

static void one(const char *impl, const char *precision, const AttentionShape *shape)
{
    static AttentionPlan p;
    Run run;
    double time[2] = {0};
    memset(&run, 0, sizeof run);
    const double T = (double)shape->T;
    const double product =
        2.0 * (double)(shape->B * shape->H * shape->D) * T * T * (shape->causal ? 0.5 : 1) * 1e-12;
    Status status = attention_plan_make(&p, shape);
    if (status == ST_OK) status = measure(&run, &p, impl, time);
    printf("| %s | %s | %lld | %lld |", impl, precision, (long long)shape->D, (long long)shape->T);
    if (status == ST_OK) {
        printf(" %.4f | %.1f | %.4f | %.1f |\n", 1e3 * time[0], 2 * product / time[0],
               1e3 * time[1], 5 * product / time[1]);
    } else {
        printf(" %s ||||\n", status_message());
    }
    fflush(stdout);
    session_close(&run.session);
    binding_free(&run.binding);
    plan_free(&p.plan);
}

static int split(char *list, char *words[MOST])
{
    int n = 0;
    for (char *w = strtok(list, ","); w && n < MOST; w = strtok(NULL, ",")) words[n++] = w;
    return n;
}

int main(int argc, char **argv)
{
    char *words[4][MOST];
    int n[4];
    if (argc < 5) return 2;
    for (int i = 0; i < 4; i++) n[i] = split(argv[i + 1], words[i]);
    AttentionShape s = {.B = argc > 5 ? atoll(argv[5]) : 8,
                        .H = argc > 6 ? atoll(argv[6]) : 16,
                        .causal = argc <= 7};
    printf("| | precision | D | T | forward (ms) | TFLOP/s | backward (ms) | TFLOP/s |\n");
    printf("|:--|:--|--:|--:|--:|--:|--:|--:|\n");
    for (int p = 0; p < n[1]; p++) {
        if (!attention_plan_precision(words[1][p], &s)) return 2;
        for (int d = 0; d < n[2]; d++) {
            for (int t = 0; t < n[3]; t++) {
                s.D = atoll(words[2][d]);
                s.T = atoll(words[3][t]);
                for (int i = 0; i < n[0]; i++) one(words[0][i], words[1][p], &s);
            }
        }
    }
    return 0;
}
