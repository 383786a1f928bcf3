#include "exec/session.h"

#include <stdlib.h>

static void place_tensors(Session *s)
{
    const MemPlan *mem = &s->binding->mem;
    for (int i = 0; i < s->plan->n_tensors; i++) {
        const Tensor *t = &s->plan->tensors[i];
        const int owner = plan_storage(s->plan, i);
        char *from = plan_kind_persistent(t->kind) ? s->region[t->kind] : s->arena;
        s->memory[i] =
            from + mem->offset[owner] + t->offset * (int64_t)plan_dtype_size(t->dtype);
    }
}

static Status take_memory(Session *s)
{
    const MemPlan *mem = &s->binding->mem;
    for (int k = 0; k < TK_COUNT; k++) {
        if (mem->region[k]) TRY(s->api->alloc(s->backend, mem->region[k], &s->region[k]));
    }
    if (mem->arena) TRY(s->api->alloc(s->backend, mem->arena, &s->arena));
    s->memory = calloc((size_t)s->plan->n_tensors + 1, sizeof *s->memory);
    if (!s->memory) return FAIL(ST_NO_MEMORY, "no memory for a table of tensors");
    place_tensors(s);
    return ST_OK;
}

Status session_open(Session *s, const Binding *binding, int device)
{
    *s = (Session){
        .plan = binding->plan, .binding = binding, .api = backend_api(binding->backend)};
    Status st = s->api->open(&s->backend, device, binding->threads);
    if (st == ST_OK) st = take_memory(s);
    if (st != ST_OK) session_close(s);
    return st;
}

void session_close(Session *s)
{
    if (!s->api) return;
    const MemPlan *mem = &s->binding->mem;
    for (int k = 0; k < TK_COUNT; k++) {
        if (s->region[k]) s->api->release(s->backend, s->region[k], mem->region[k]);
    }
    if (s->arena) s->api->release(s->backend, s->arena, mem->arena);
    if (s->backend) s->api->close(s->backend);
    free(s->memory);
    *s = (Session){0};
}

Status session_observe(Session *s, Observer observer)
{
    if (s->n_observers == SESSION_MAX_OBSERVERS) return FAIL(ST_FAILED, "too many observers");
    s->observers[s->n_observers++] = observer;
    return ST_OK;
}

static Status run_node(Session *s, int node)
{
    const Binding *binding = s->binding;
    const OpImpl *impl = &binding->impls[node];
    const ObserverEvent event = {s->plan, node, s->api, s->backend, s->memory, impl->name};
    const OpCall call = {.backend = s->backend,
                         .plan = s->plan,
                         .node = &s->plan->nodes[node],
                         .memory = s->memory,
                         .workspace = (char *)s->arena + binding->mem.workspace[node],
                         .threads = binding->threads};
    for (int o = 0; o < s->n_observers; o++) {
        if (s->observers[o].begin) TRY(s->observers[o].begin(s->observers[o].self, &event));
    }
    TRY(impl->run(&call));
    for (int o = s->n_observers; o-- > 0;) {
        if (s->observers[o].end) TRY(s->observers[o].end(s->observers[o].self, &event));
    }
    return ST_OK;
}

Status session_run(Session *s, Phase phase)
{
    int begin = 0, end = 0;
    plan_phase_nodes(s->plan, phase, &begin, &end);
    for (int i = begin; i < end; i++) {
        const Status st = run_node(s, i);
        if (st == ST_OK) continue;
        status_context("%s, %s", plan_phase_name(phase), s->plan->nodes[i].scope);
        return st;
    }
    return ST_OK;
}

Status session_upload(Session *s, int tensor, const void *src)
{
    return s->api->upload(s->backend, s->memory[tensor], src,
                          plan_bytes(&s->plan->tensors[tensor]));
}

Status session_download(Session *s, int tensor, void *dst)
{
    return s->api->download(s->backend, dst, s->memory[tensor],
                            plan_bytes(&s->plan->tensors[tensor]));
}
