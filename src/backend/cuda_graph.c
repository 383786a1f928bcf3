#include "backend/cuda_graph.h"

#include <stdbool.h>
#include <stdint.h>

#if CUDART_VERSION < 12030 /* edges of programmatic launches cannot be asked for */
Status cuda_graph_join_clears(const Backend *be, cudaGraph_t graph)
{
    (void)be;
    (void)graph;
    return ST_OK;
}
#else

#if CUDART_VERSION < 13000
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
#define cudaGraphAddDependencies       cudaGraphAddDependencies_v2
#endif

/* The only node that waits for this one; NULL when there is none, or more than one. */
static Status only_next(cudaGraphNode_t node, cudaGraphNode_t *next)
{
    cudaGraphEdgeData edge;
    size_t n = 0, one = 1;
    *next = NULL;
    TRY_CUDA(cudaGraphNodeGetDependentNodes(node, NULL, NULL, &n));
    if (n == 1) TRY_CUDA(cudaGraphNodeGetDependentNodes(node, next, &edge, &one));
    return ST_OK;
}

static Status chain_start(cudaGraph_t graph, cudaGraphNode_t *first)
{
    size_t n = 0, one = 1;
    *first = NULL;
    TRY_CUDA(cudaGraphGetRootNodes(graph, NULL, &n));
    if (n == 1) TRY_CUDA(cudaGraphGetRootNodes(graph, first, &one));
    return ST_OK;
}

static Status is_chain(cudaGraph_t graph, bool *chain)
{
    cudaGraphNode_t node = NULL;
    size_t nodes = 0, met = 0;
    TRY_CUDA(cudaGraphGetNodes(graph, NULL, &nodes));
    TRY(chain_start(graph, &node));
    for (; node; met++) TRY(only_next(node, &node));
    *chain = met == nodes;
    return ST_OK;
}

static Status clears_slot(const Backend *be, cudaGraphNode_t node, bool *yes)
{
    enum cudaGraphNodeType type;
    struct cudaMemsetParams clear;
    *yes = false;
    TRY_CUDA(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeMemset) return ST_OK;
    TRY_CUDA(cudaGraphMemsetNodeGetParams(node, &clear));
    const uintptr_t at = (uintptr_t)clear.dst, from = (uintptr_t)be->slots;
    *yes = clear.value == 0 && clear.height == 1 && at >= from &&
           at < from + (size_t)be->n_slots * CUDA_BACKEND_SLOT;
    return ST_OK;
}

static Status clear_all(const Backend *be, cudaGraphNode_t node)
{
    const struct cudaMemsetParams all = {.dst = be->slots,
                                         .elementSize = 1,
                                         .width = (size_t)be->n_slots * CUDA_BACKEND_SLOT,
                                         .height = 1};
    TRY_CUDA(cudaGraphMemsetNodeSetParams(node, &all));
    return ST_OK;
}

static Status take_out(cudaGraph_t graph, cudaGraphNode_t before, cudaGraphNode_t node,
                       cudaGraphNode_t next)
{
    if (next) TRY_CUDA(cudaGraphAddDependencies(graph, &before, &next, NULL, 1));
    TRY_CUDA(cudaGraphDestroyNode(node));
    return ST_OK;
}

Status cuda_graph_join_clears(const Backend *be, cudaGraph_t graph)
{
    cudaGraphNode_t node = NULL, before = NULL, next = NULL;
    bool chain = false, joined = false;
    TRY(is_chain(graph, &chain));
    if (!chain) return ST_OK;
    TRY(chain_start(graph, &node));
    for (; node; node = next) {
        bool clears = false;
        TRY(only_next(node, &next));
        TRY(clears_slot(be, node, &clears));
        if (clears && joined) {
            TRY(take_out(graph, before, node, next));
            continue;
        }
        if (clears) TRY(clear_all(be, node));
        joined |= clears;
        before = node;
    }
    return ST_OK;
}
#endif
