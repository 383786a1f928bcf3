/* Steps in which memory is poisoned the moment its tensor's life has ended by the plan, on any backend:
 * whoever still reads it gets NaN. */
#pragma once

#include "step_harness.h"

typedef struct Poison {
    const Session *session;
    int *last;   /* of each storage tensor: poisoned after this node */
    char *bytes; /* as many of 0xff as the largest block has */
} Poison;

static inline size_t poison_most_bytes(const Session *s)
{
    size_t most = 1;
    for (int i = 0; i < s->plan->n_tensors; i++) {
        if (plan_bytes(&s->plan->tensors[i]) > most) most = plan_bytes(&s->plan->tensors[i]);
    }
    for (int n = 0; n < s->plan->n_nodes; n++) {
        if (s->binding->workspace[n] > most) most = s->binding->workspace[n];
    }
    return most;
}

/* The tensor owns memory that is used again. */
static inline bool poison_owns(const Session *s, int id)
{
    const Tensor *t = &s->plan->tensors[id];
    return t->base == PLAN_NONE && !plan_kind_persistent(t->kind) && !t->keep && !t->saved &&
           s->binding->mem.alias_of[id] == id && s->binding->mem.first[id] != PLAN_NONE;
}

static inline Status poison_put(const Poison *p, void *at, size_t n)
{
    return n ? p->session->api->upload(p->session->backend, at, p->bytes, n) : ST_OK;
}

static inline Status poison_workspace(void *self, const ObserverEvent *event)
{
    const Poison *p = self;
    const Binding *binding = p->session->binding;
    return poison_put(p, (char *)p->session->arena + binding->mem.workspace[event->node],
                      binding->workspace[event->node]);
}

static inline Status poison_dead(void *self, const ObserverEvent *event)
{
    const Poison *p = self;
    const Session *s = p->session;
    TRY(poison_workspace(self, event));
    for (int i = 0; i < s->plan->n_tensors; i++) {
        if (!poison_owns(s, i) || p->last[i] != event->node) continue;
        TRY(poison_put(p, s->memory[i], plan_bytes(&s->plan->tensors[i])));
    }
    return ST_OK;
}

static inline void poison_open(Poison *p, Session *s)
{
    const size_t tensors = (size_t)s->plan->n_tensors, most = poison_most_bytes(s);
    *p = (Poison){s, malloc(tensors * sizeof *p->last), malloc(most)};
    assert_non_null(p->last);
    assert_non_null(p->bytes);
    memcpy(p->last, s->binding->mem.last, tensors * sizeof *p->last);
    memset(p->bytes, 0xff, most);
    ASSERT_OK(session_observe(s, (Observer){p, poison_workspace, poison_dead}));
}

static inline void poison_close(Poison *p)
{
    free(p->last);
    free(p->bytes);
}

/* ---- the same bits ---- */

/* The loss and every parameter after some steps, to compare another run with. */
typedef struct PoisonResult {
    double *values;
    int64_t n;
} PoisonResult;

static inline PoisonResult poison_result(const Step *s)
{
    PoisonResult r = {calloc((size_t)s->model.n_elements + 1, sizeof(double)), 0};
    assert_non_null(r.values);
    r.values[r.n++] = harness_get(&s->run, s->model.loss, 0);
    for (int p = 0; p < s->model.n_params; p++) {
        const int id = s->model.params[p].tensor;
        for (int64_t i = 0; i < plan_elements(&s->model.plan.tensors[id]); i++) {
            r.values[r.n++] = harness_get(&s->run, id, i);
        }
    }
    return r;
}

/* From the start again, the same steps: the same bits? NaN never is. */
static inline bool poison_repeats(Step *s, int steps, const PoisonResult *want)
{
    bool same = true;
    ASSERT_OK(init_session(&s->run.session, &s->model));
    run_steps(s, steps);
    PoisonResult got = poison_result(s);
    for (int64_t i = 0; i < want->n; i++) same = same && got.values[i] == want->values[i];
    free(got.values);
    return same;
}

/* Two steps: what the second finds of the first is poisoned too. */
static inline void poison_check(const Config *c, BackendId backend)
{
    Step s;
    Poison p;
    open_step_on(&s, c, MODE_TRAIN, DT_F32, backend, 2);
    run_steps(&s, 2);
    PoisonResult want = poison_result(&s);
    poison_open(&p, &s.run.session);
    if (!poison_repeats(&s, 2, &want)) {
        fail_msg("%s %s %s recompute %s: poisoning dead memory changes the step",
                 config_precisions[c->precision], config_execs[c->exec],
                 config_attentions[c->attention], config_recompute_text(c->recompute).s);
    }
    free(want.values);
    poison_close(&p);
    close_step(&s);
}

/* Storage tensors whose content reaches the loss or a parameter; an eager step makes some that
 * reach nothing. */
static inline bool *poison_find_used(const Plan *plan)
{
    bool *used = calloc((size_t)plan->n_tensors, sizeof *used);
    assert_non_null(used);
    for (int i = 0; i < plan->n_tensors; i++) {
        used[i] = plan->tensors[i].keep || plan->tensors[i].saved ||
                  plan_kind_persistent(plan->tensors[i].kind);
    }
    for (int n = plan->n_nodes; n-- > 0;) {
        const Node *node = &plan->nodes[n];
        const int *operand = plan->operands + node->first;
        bool matters = false;
        for (int i = 0; i < node->n_out + node->n_in; i++) {
            if (operand[i] == PLAN_NONE) continue;
            const int s = plan_storage(plan, operand[i]);
            if (i < node->n_out) matters = matters || used[s];
            if (i >= node->n_out) used[s] = used[s] || matters;
        }
    }
    return used;
}

/* The node that reads it last matters, and does read it: the CPU's attention_grad takes no notice of the
 * result of attention, for the sake of rounding (ops/cpu/attention_cpu.c). */
static inline bool poison_read_in_earnest(const Session *s, const bool *used, int id)
{
    const Node *node = &s->plan->nodes[s->binding->mem.last[id]];
    bool matters = false;
    if (s->binding->backend == BACKEND_cpu && node->op == OP_attention_grad &&
        strcmp(s->plan->tensors[id].name, "attention") == 0)
        return false;
    for (int i = 0; i < node->n_out; i++) {
        const int out = plan_out_id(s->plan, node, i);
        matters = matters || (out != PLAN_NONE && used[plan_storage(s->plan, out)]);
    }
    return matters;
}

/* Every tensor in turn, or every so many, dies one node too early, and it shows. Returns how many
 * were tried. */
static inline int poison_check_cut(const Config *c, BackendId backend, int every)
{
    Step s;
    Poison p;
    int tried = 0, seen = 0;
    open_step_on(&s, c, MODE_TRAIN, DT_F32, backend, 2);
    run_steps(&s, 1);
    PoisonResult want = poison_result(&s);
    poison_open(&p, &s.run.session);
    const MemPlan *mem = &s.run.binding.mem;
    bool *used = poison_find_used(&s.model.plan);
    for (int i = 0; i < s.model.plan.n_tensors; i++) {
        if (!poison_owns(&s.run.session, i) || mem->last[i] == mem->first[i]) continue;
        if (!poison_read_in_earnest(&s.run.session, used, i)) continue;
        if (seen++ % every != 0) continue;
        const Node *reader = &s.model.plan.nodes[mem->last[i]];
        p.last[i] = mem->last[i] - 1;
        if (poison_repeats(&s, 1, &want))
            fail_msg("%s may die before %s %s (%s) reads it, and nothing shows",
                     s.model.plan.tensors[i].name, plan_phase_name(reader->phase), reader->scope,
                     plan_op_name(reader->op));
        p.last[i] = mem->last[i];
        tried++;
    }
    free(used);
    free(want.values);
    poison_close(&p);
    close_step(&s);
    return tried;
}
