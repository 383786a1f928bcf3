#include "bench/measure/device_memory.h"

static Status touched(const Session *s, size_t *bytes)
{
    const MemPlan *mem = &s->binding->mem;
    size_t part = 0;
    for (int k = 0; k <= TK_COUNT; k++) {
        void *memory = k < TK_COUNT ? s->region[k] : s->arena;
        if (!memory) continue;
        TRY(s->api->touched(s->backend, memory, k < TK_COUNT ? mem->region[k] : mem->arena, &part));
        *bytes += part;
    }
    return ST_OK;
}

Status device_memory_peak(Session *s, size_t *bytes)
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
