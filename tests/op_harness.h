/* Runs the test cases of ops (op_cases/) on the CPU and brings results back as doubles. */
#pragma once

#include "exec/session.h"
#include "ops/element.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASSERT_OK(expr)                                                   \
    do {                                                                  \
        if ((expr) != ST_OK) fail_msg("%s: %s", #expr, status_message()); \
    } while (0)

static inline BackendId harness_backend(const char *name)
{
    for (int id = 0; id < BACKEND_COUNT; id++) {
        const BackendApi *api = backend_api((BackendId)id);
        if (!api->absent && strcmp(api->name, name) == 0) return (BackendId)id;
    }
    fprintf(stderr, "this build has no backend '%s'\n", name);
    exit(1);
}

/* A number in [0, 1) that depends on the tensor and the element only. */
static inline double harness_uniform(int tensor, int64_t i)
{
    uint64_t x = (uint64_t)tensor * UINT64_C(0x9e3779b97f4a7c15) +
                 (uint64_t)i * UINT64_C(0xbf58476d1ce4e5b9) + 1;
    x ^= x >> 31;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 32;
    return (double)(x >> 11) * 0x1p-53;
}

/* By the name: "+..." positive, "#N..." integers below N, "~N..." in [-N, N], else in [-1, 1]. */
static inline double harness_value(const Tensor *t, int id, int64_t i)
{
    const double u = harness_uniform(id, i);
    if (t->name[0] == '+') return 0.5 + u;
    if (t->name[0] == '#') return floor(u * strtod(t->name + 1, NULL));
    return t->name[0] == '~' ? strtod(t->name + 1, NULL) * (2 * u - 1) : 2 * u - 1;
}

static inline void harness_keep_all(Plan *plan)
{
    for (int i = 0; i < plan->n_tensors; i++) plan->tensors[i].keep = true;
}

/* What the test must provide: storage that some node reads before any has written it, and what the
 * optimizer updates in place. */
static inline bool harness_is_input(const Plan *plan, int id)
{
    if (plan_kind_persistent(plan->tensors[id].kind)) return true;
    for (int n = 0; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        const int *operand = plan->operands + node->first;
        for (int i = node->n_out; i < node->n_out + node->n_in; i++) {
            if (operand[i] != PLAN_NONE && plan_storage(plan, operand[i]) == id) return true;
        }
        for (int i = 0; i < node->n_out; i++) {
            if (operand[i] != PLAN_NONE && plan_storage(plan, operand[i]) == id) return false;
        }
    }
    return false;
}

typedef struct HarnessRun {
    Binding binding;
    Session session;
    void *arena, *region[TK_COUNT]; /* copies on the host; the memory itself on a CPU */
} HarnessRun;

static inline bool harness_on_cpu(const HarnessRun *run)
{
    return run->binding.backend == BACKEND_cpu;
}

/* Where the host sees a tensor's first element. */
static inline void *harness_host(const HarnessRun *run, int id)
{
    const Session *s = &run->session;
    if (harness_on_cpu(run)) return s->memory[id];
    const TensorKind kind = s->plan->tensors[id].kind;
    const bool persistent = plan_kind_persistent(kind);
    const char *from = persistent ? s->region[kind] : s->arena;
    return (char *)(persistent ? run->region[kind] : run->arena) + ((char *)s->memory[id] - from);
}

/* Moves everything between the device and the host's copies. */
static inline void harness_move(HarnessRun *run, bool to_device)
{
    Session *s = &run->session;
    if (harness_on_cpu(run)) return;
    for (int k = 0; k <= TK_COUNT; k++) {
        void *device = k < TK_COUNT ? s->region[k] : s->arena;
        void *host = k < TK_COUNT ? run->region[k] : run->arena;
        const size_t bytes = k < TK_COUNT ? run->binding.mem.region[k] : run->binding.mem.arena;
        if (!device) continue;
        ASSERT_OK(to_device ? s->api->upload(s->backend, device, host, bytes)
                            : s->api->download(s->backend, host, device, bytes));
    }
}

/* 0xff is NaN in every float format. */
static inline void *harness_poisoned(void *device, size_t bytes, bool on_cpu)
{
    if (!device) return NULL;
    void *host = on_cpu ? device : malloc(bytes);
    assert_non_null(host);
    return memset(host, 0xff, bytes);
}

static inline void harness_fill(HarnessRun *run)
{
    Session *s = &run->session;
    const bool cpu = harness_on_cpu(run);
    run->arena = harness_poisoned(s->arena, run->binding.mem.arena, cpu);
    for (int k = 0; k < TK_COUNT; k++) {
        run->region[k] = harness_poisoned(s->region[k], run->binding.mem.region[k], cpu);
    }
    for (int id = 0; id < s->plan->n_tensors; id++) {
        const Tensor *t = &s->plan->tensors[id];
        if (t->base != PLAN_NONE || !harness_is_input(s->plan, id)) continue;
        for (int64_t i = 0; i < plan_elements(t); i++) {
            const int64_t at = i / plan_width(t) * t->ld + i % plan_width(t);
            element_set(harness_host(run, id), t->dtype, at, harness_value(t, id, i));
        }
    }
    harness_move(run, true);
}

static inline void harness_run_nodes(HarnessRun *run)
{
    Session *s = &run->session;
    for (int phase = 0; phase < PHASE_COUNT; phase++) ASSERT_OK(session_run(s, (Phase)phase));
    ASSERT_OK(s->api->sync(s->backend));
    harness_move(run, false);
}

/* Opens and fills with the same inputs every time. */
static inline void harness_open_on(HarnessRun *run, const Plan *plan, BackendId backend,
                                   const char *prefer, int threads)
{
    memset(run, 0, sizeof *run);
    ASSERT_OK(
        binding_make(&run->binding, plan, backend, threads, (const char *const[]){prefer, NULL}));
    ASSERT_OK(session_open(&run->session, &run->binding, 0));
    harness_fill(run);
}

static inline void harness_open(HarnessRun *run, const Plan *plan, const char *prefer, int threads)
{
    harness_open_on(run, plan, BACKEND_cpu, prefer, threads);
}

static inline void harness_close(HarnessRun *run)
{
    for (int k = 0; !harness_on_cpu(run) && k < TK_COUNT; k++) free(run->region[k]);
    if (!harness_on_cpu(run)) free(run->arena);
    session_close(&run->session);
    binding_free(&run->binding);
}

static inline double harness_get(const HarnessRun *run, int id, int64_t i)
{
    const Tensor *t = &run->session.plan->tensors[id];
    const int64_t at = i / plan_width(t) * t->ld + i % plan_width(t);
    const void *data = harness_host(run, id);
    if (t->dtype != DT_LOW16) return element_get(data, t->dtype, at);
    const uint16_t *upper = harness_host(run, t->upper);
    return (double)float16_join(upper[at], ((const uint16_t *)data)[at]);
}

/* ||a - b|| / ||b||; NaN anywhere gives NaN, which no bound accepts. */
static inline double harness_error(const HarnessRun *a, const HarnessRun *b, int id_a, int id_b)
{
    const Tensor *t = &a->session.plan->tensors[id_a];
    double difference = 0, size = 0;
    for (int64_t i = 0; i < plan_elements(t); i++) {
        const double x = harness_get(a, id_a, i), y = harness_get(b, id_b, i);
        if (isinf(x) && isinf(y) && (x > 0) == (y > 0)) continue; /* masked scores agree */
        difference += (x - y) * (x - y);
        size += y * y;
    }
    return size > 0 ? sqrt(difference / size) : sqrt(difference);
}
