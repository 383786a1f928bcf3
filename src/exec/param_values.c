#include "exec/param_values.h"

#include "backend/thread_team.h"
#include "base/i64.h"
#include "comm/comm.h"
#include "ops/element.h"

/* Elements of a group: what a parameter, a shard, or both have of it. */
typedef struct Range {
    int64_t begin, end;
} Range;

static Range common(Range a, Range b)
{
    const Range both = {i64_max(a.begin, b.begin), i64_min(a.end, b.end)};
    return both.begin < both.end ? both : (Range){0, 0};
}

static const ParamGroup *group_of(const Model *model, int param)
{
    return &model->groups[model->params[param].group];
}

static Range range_of(const Model *model, int param, int64_t first, int64_t n)
{
    const int64_t begin = model->params[param].first + first;
    return (Range){begin, begin + n};
}

/* What a rank has of a group. */
static Range shard_range(const Model *model, const ParamGroup *g, int64_t rank)
{
    const Shard own = shard_of(g->used, plan_ranks(&model->plan), rank);
    return (Range){own.first, own.first + own.count};
}

static Range own_range(const Model *model, const ParamGroup *g, bool is_shard)
{
    return is_shard ? shard_range(model, g, model->plan.rank) : (Range){0, g->used};
}

int64_t param_values_count(const Model *model, int param)
{
    return plan_elements(&model->plan.tensors[model->params[param].tensor]);
}

/* ---- writing ---- */

typedef struct Conversion {
    const float *values;
    void *to;
    DType dtype;
    bool upper;
} Conversion;

static void convert_range(const void *data, int64_t i, int64_t end, int thread)
{
    const Conversion *c = data;
    uint16_t *upper = c->to;
    (void)thread;
    if (c->upper) {
        for (; i < end; i++) upper[i] = float16_upper(c->values[i]);
    } else {
        for (; i < end; i++) element_set(c->to, c->dtype, i, (double)c->values[i]);
    }
}

Status param_values_upload(Session *s, void *to, DType dtype, bool upper, const float *values,
                           int64_t n, void *scratch)
{
    const size_t bytes = (size_t)n * plan_dtype_size(dtype);
    const Conversion c = {values, scratch, dtype, upper};
    if (dtype == DT_F32) return s->api->upload(s->backend, to, values, bytes);
    thread_team_for(s->binding->threads, n, 0, convert_range, &c);
    return s->api->upload(s->backend, to, scratch, bytes);
}

/* A tensor that has elements `has` of the group, from its first one on. */
typedef struct Target {
    int tensor;
    Range has;
    bool upper;
} Target;

/* `values` are those of `range`. */
static Status write_target(Session *s, const Target *target, Range range, const float *values,
                           void *scratch)
{
    const Range both = common(range, target->has);
    const int64_t n = both.end - both.begin;
    const DType dtype = s->plan->tensors[target->tensor].dtype;
    if (n == 0) return ST_OK;
    const size_t at = (size_t)(both.begin - target->has.begin) * plan_dtype_size(dtype);
    return param_values_upload(s, (char *)s->memory[target->tensor] + at, dtype, target->upper,
                               values + (both.begin - range.begin), n, scratch);
}

Status param_values_write(Session *s, const Model *model, int param, int64_t first, int64_t n,
                          const float *values, void *scratch)
{
    const ParamGroup *g = group_of(model, param);
    const Range range = range_of(model, param, first, n);
    const DType dtype = s->plan->tensors[g->flat].dtype;
    /* A parameter in bf16 alone equals the upper half of one in two halves: all modes start alike. */
    const Target flat = {g->flat, own_range(model, g, g->flat_is_shard), dtype == DT_BF16};
    TRY(write_target(s, &flat, range, values, scratch));
    if (dtype != DT_LOW16) return ST_OK;
    const Target copy = {g->copy, own_range(model, g, g->copy_is_shard), true};
    return write_target(s, &copy, range, values, scratch);
}

/* ---- reading ---- */

/* Elements `range` of the group, in `tensor` from `begin` on, in fp32. */
static Status read_tensor(Session *s, int tensor, int64_t begin, Range range, float *values,
                          void *scratch)
{
    const DType dtype = s->plan->tensors[tensor].dtype;
    const size_t size = plan_dtype_size(dtype), n = (size_t)(range.end - range.begin);
    const char *from = (const char *)s->memory[tensor] + (size_t)(range.begin - begin) * size;
    if (dtype == DT_F32) return s->api->download(s->backend, values, from, n * size);
    TRY(s->api->download(s->backend, scratch, from, n * size));
    for (size_t i = 0; i < n; i++) values[i] = (float)element_get(scratch, dtype, (int64_t)i);
    return ST_OK;
}

static Status read_halves(Session *s, const Model *model, const ParamGroup *g, Range range,
                          float *values, uint16_t *scratch)
{
    const int64_t n = range.end - range.begin;
    const Range low = own_range(model, g, g->flat_is_shard),
                high = own_range(model, g, g->copy_is_shard);
    const uint16_t *lower = (const uint16_t *)s->memory[g->flat] + (range.begin - low.begin);
    const uint16_t *upper = (const uint16_t *)s->memory[g->copy] + (range.begin - high.begin);
    TRY(s->api->download(s->backend, scratch, lower, (size_t)n * sizeof *lower));
    TRY(s->api->download(s->backend, scratch + n, upper, (size_t)n * sizeof *upper));
    for (int64_t i = 0; i < n; i++) values[i] = float16_join(scratch[n + i], scratch[i]);
    return ST_OK;
}

/* What this rank has of `range`. */
static Status read_own(Session *s, const Model *model, const ParamGroup *g, ParamValues what,
                       Range range, float *values, void *scratch)
{
    if (range.begin == range.end) return ST_OK;
    if (what == PARAM_GRADIENT) {
        const int64_t begin = own_range(model, g, g->own.grad != PLAN_NONE).begin;
        const int tensor = g->own.grad == PLAN_NONE ? g->grad : g->own.grad;
        return read_tensor(s, tensor, begin, range, values, scratch);
    }
    if (s->plan->tensors[g->flat].dtype == DT_LOW16)
        return read_halves(s, model, g, range, values, scratch);
    const int64_t begin = own_range(model, g, g->flat_is_shard).begin;
    return read_tensor(s, g->flat, begin, range, values, scratch);
}

Status param_values_read(Session *s, const Model *model, int param, ParamValues what, float *values,
                         void *scratch)
{
    const ParamGroup *g = group_of(model, param);
    const Range all = range_of(model, param, 0, param_values_count(model, param));
    const bool shards = what == PARAM_GRADIENT ? g->own.grad != PLAN_NONE : g->flat_is_shard;
    if (!shards) return read_own(s, model, g, what, all, values, scratch);
    for (int64_t r = 0; r < plan_ranks(&model->plan); r++) {
        const Range part = common(all, shard_range(model, g, r));
        float *at = values + (part.begin == part.end ? 0 : part.begin - all.begin);
        if (r == model->plan.rank) TRY(read_own(s, model, g, what, part, at, scratch));
        const size_t bytes = (size_t)(part.end - part.begin) * sizeof *at;
        if (s->comm && bytes > 0) TRY(comm_broadcast(s->comm, at, bytes, (int)r));
    }
    return ST_OK;
}
