#include "exec/comm_stream.h"

#include <limits.h>
#include <stdlib.h>

static bool is_collective(const Plan *plan, int node)
{
    return plan_op_category(plan->nodes[node].op) == CATEGORY_communication;
}

Status comm_stream_open(CommStream *q, const BackendApi *api, Backend *backend, const Plan *plan)
{
    int n = 0;
    *q = (CommStream){.api = api, .backend = backend};
    for (int i = 0; i < plan->n_nodes; i++) n += is_collective(plan, i);
    if (n == 0) return ST_OK;
    q->node = malloc((size_t)n * sizeof *q->node);
    q->put = malloc((size_t)n * sizeof *q->put);
    q->timed = calloc((size_t)n, sizeof *q->timed);
    Status status = q->node && q->put && q->timed ? ST_OK : NO_MEMORY("for %d collectives", n);
    if (status == ST_OK) status = api->beside_open(backend, n);
    if (status != ST_OK) {
        comm_stream_close(q);
        return status;
    }
    for (int i = 0; i < plan->n_nodes; i++) {
        if (is_collective(plan, i)) q->node[q->n++] = i;
    }
    return ST_OK;
}

void comm_stream_close(CommStream *q)
{
    free(q->node);
    free(q->put);
    free(q->timed);
    *q = (CommStream){0};
}

/* How many pieces are of nodes up to this one. */
static int pieces_to(const CommStream *q, int node)
{
    int low = 0, high = q->n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (q->node[middle] <= node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

Status comm_stream_wait(CommStream *q, int node)
{
    const int before = pieces_to(q, node);
    int last = q->n_put;
    while (last > q->waited && q->put[last - 1] >= before) last--;
    if (last == q->waited) return ST_OK;
    TRY(q->api->beside_wait(q->backend, q->put[last - 1]));
    q->waited = last;
    return ST_OK;
}

/* The pieces of a step are put in by their order: one that is not behind the last begins another step. */
Status comm_stream_begin(CommStream *q, int node)
{
    const int piece = pieces_to(q, node) - 1;
    if (q->n_put > 0 && piece <= q->put[q->n_put - 1]) {
        TRY(comm_stream_wait(q, INT_MAX));
        q->waited = q->n_put = 0;
    }
    return q->api->beside_begin(q->backend, piece);
}

Status comm_stream_end(CommStream *q, int node)
{
    const int piece = pieces_to(q, node) - 1;
    TRY(q->api->beside_end(q->backend, piece));
    q->put[q->n_put++] = piece;
    q->timed[piece] = true;
    return ST_OK;
}

Status comm_stream_add_seconds(CommStream *q, double *sum)
{
    for (int i = 0; i < q->n; i++) {
        double seconds = 0;
        if (!q->timed[i]) continue;
        TRY(q->api->beside_seconds(q->backend, i, &seconds));
        *sum += seconds;
    }
    return ST_OK;
}
