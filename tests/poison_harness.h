/* Steps in which memory is poisoned the moment its tensor's life has ended by the plan, on any backend:
 * whoever still reads it gets NaN. */
#ifndef TESTS_POISON_HARNESS_H
#define TESTS_POISON_HARNESS_H

#include "step_harness.h"

typedef struct Poison {
    const Session *session;
    int *
        last; /* of each storage tensor: after this node it is poisoned; the plan's, unless it was cut short */
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
    return t->base == PLAN_NONE && !plan_kind_persistent(t->kind) && !t->keep &&
           s->binding->mem.shares[id] == id && s->binding->mem.first[id] != PLAN_NONE;
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

/* Where two steps first differ, in all parameters after some steps and the loss; NULL: nowhere. NaN differs. */
static inline const char *poison_difference(const Step *a, const Step *b)
{
    if (harness_get(&a->run, a->model.loss, 0) != harness_get(&b->run, b->model.loss, 0))
        return "loss";
    for (int p = 0; p < a->model.n_params; p++) {
        const int x = a->model.params[p].tensor, y = b->model.params[p].tensor;
        for (int64_t i = 0; i < plan_elements(&a->model.plan.tensors[x]); i++) {
            if (harness_get(&a->run, x, i) != harness_get(&b->run, y, i))
                return a->model.params[p].name;
        }
    }
    return NULL;
}

static inline void poison_start_again(Step *s)
{
    ASSERT_OK(init_session(&s->run.session, &s->model));
}

/* Two steps: what the second finds of the first is poisoned too. */
static inline void poison_check(const Config *c, BackendId backend)
{
    Step plain, poisoned;
    Poison p;
    open_step_on(&plain, c, MODE_TRAIN, DT_F32, backend, 2);
    open_step_on(&poisoned, c, MODE_TRAIN, DT_F32, backend, 2);
    poison_open(&p, &poisoned.run.session);
    run_steps(&plain, 2);
    run_steps(&poisoned, 2);
    const char *where = poison_difference(&plain, &poisoned);
    if (where) {
        fail_msg("%s %s %s recompute %s: %s differs when dead memory is poisoned",
                 config_precision_name(c->precision), config_exec_name(c->exec),
                 config_attention_name(c->attention), config_recompute_text(c->recompute).s, where);
    }
    poison_close(&p);
    close_step(&poisoned);
    close_step(&plain);
}

/* Storage tensors whose content reaches the loss or a parameter; an eager step makes some that reach nothing. */
static inline bool *poison_find_used(const Plan *plan)
{
    bool *used = calloc((size_t)plan->n_tensors, sizeof *used);
    assert_non_null(used);
    for (int i = 0; i < plan->n_tensors; i++) {
        used[i] = plan->tensors[i].keep || plan_kind_persistent(plan->tensors[i].kind);
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
 * result of attention, for the sake of rounding (ops/attention_cpu.c). */
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

/* Every tensor in turn dies one node too early, and it shows. Returns how many were tried. */
static inline int poison_check_cut(const Config *c, BackendId backend)
{
    Step plain, cut;
    Poison p;
    int tried = 0;
    open_step_on(&plain, c, MODE_TRAIN, DT_F32, backend, 2);
    open_step_on(&cut, c, MODE_TRAIN, DT_F32, backend, 2);
    poison_open(&p, &cut.run.session);
    run_steps(&plain, 1);
    const MemPlan *mem = &cut.run.binding.mem;
    bool *used = poison_find_used(&cut.model.plan);
    for (int i = 0; i < cut.model.plan.n_tensors; i++) {
        if (!poison_owns(&cut.run.session, i) || mem->last[i] == mem->first[i]) continue;
        if (!poison_read_in_earnest(&cut.run.session, used, i)) continue;
        poison_start_again(&cut);
        p.last[i] = mem->last[i] - 1;
        run_steps(&cut, 1);
        p.last[i] = mem->last[i];
        tried++;
        if (poison_difference(&plain, &cut)) continue;
        const Node *reader = &cut.model.plan.nodes[mem->last[i]];
        fail_msg("%s may die before %s %s (%s) reads it, and nothing shows",
                 cut.model.plan.tensors[i].name, plan_phase_name(reader->phase), reader->scope,
                 plan_op_name(reader->op));
    }
    free(used);
    poison_close(&p);
    close_step(&cut);
    close_step(&plain);
    return tried;
}

#endif
