#include "bench/cell/expert_load.h"

#include "base/array.h"
#include "base/json_text.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

typedef struct Loads {
    const ModelSpec *spec;
    int32_t *first; /* of one layer */
    double *loads;  /* by an even share, of all layers */
    int n;          /* of them */
    double entropy; /* of all layers, summed */
    json_t *layers;
} Loads;

static Status add_layer(Loads *l)
{
    const int64_t E = l->spec->num_experts, all = l->first[E];
    json_t *rows = json_array();
    double entropy = 0;
    if (json_array_append_new(l->layers, rows)) return NO_MEMORY("for the load of experts");
    for (int64_t e = 0; e < E; e++) {
        const int64_t n = l->first[e + 1] - l->first[e];
        const double share = (double)n / (double)all;
        l->loads[l->n++] = share * (double)E;
        entropy -= n > 0 ? share * log(share) : 0;
        if (json_array_append_new(rows, json_integer(n)))
            return NO_MEMORY("for the load of experts");
    }
    l->entropy += E > 1 ? entropy / log((double)E) : 1;
    return ST_OK;
}

static Status add_layers(Loads *l, Session *s, const Model *model)
{
    for (int64_t layer = 0; layer < l->spec->num_layers; layer++) {
        const int first = model->experts[layer].first;
        if (first == PLAN_NONE) continue;
        TRY(session_download(s, first, l->first));
        TRY(add_layer(l));
    }
    return ST_OK;
}

static Status put(Record *r, const Loads *l)
{
    const double layers = (double)l->n / (double)l->spec->num_experts;
    double least = INFINITY, most = 0;
    for (int i = 0; i < l->n; i++) {
        least = fmin(least, l->loads[i]);
        most = fmax(most, l->loads[i]);
    }
    TRY(record_put_number(r, "expert_load_least", least));
    TRY(record_put_number(r, "expert_load_median", stats_median(l->loads, l->n)));
    TRY(record_put_number(r, "expert_load_most", most));
    TRY(record_put_number(r, "expert_load_entropy", l->entropy / layers));
    return json_object_set(r, "expert_rows", l->layers) ? NO_MEMORY("for the load of experts")
                                                        : ST_OK;
}

Status expert_load_put(Record *r, Session *s, const Model *model)
{
    const ModelSpec *spec = &model->config.model;
    if (!model->experts || spec->num_experts == 0) return ST_OK;
    const size_t experts = (size_t)spec->num_experts, layers = (size_t)spec->num_layers;
    CLEANUP(array_free) int32_t *first = calloc(experts + 1, sizeof *first);
    CLEANUP(array_free) double *loads = calloc(experts * layers, sizeof *loads);
    CLEANUP(json_text_free) json_t *list = json_array();
    Loads l = {.spec = spec, .first = first, .loads = loads, .layers = list};
    if (!first || !loads || !list) return NO_MEMORY("for the load of experts");
    TRY(add_layers(&l, s, model));
    return l.n > 0 ? put(r, &l) : ST_OK;
}
