#include "prof/ranges_nvtx.h"

#include "prof/op_rows.h"

#include <nvtx3/nvToolsExt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is pushed when a node begins and popped when it ends, from the outside in. A name that the node
 * before has in the same place goes on. */
enum { LEVEL_PHASE, LEVEL_LAYER, LEVEL_PART, LEVEL_OP, LEVEL_LIBRARY, LEVELS };

struct RangesNvtx {
    int n_nodes;
    char (*name)[LEVELS][128]; /* of each node; "": none */
};

Status ranges_nvtx_check(void)
{
    return ST_OK;
}

static const char *phase_name(Phase phase)
{
    static const char *const names[PHASE_COUNT] = {"SETUP", "FORWARD", "BACKWARD", "OPTIMIZER"};
    return names[phase];
}

static const char *library_of(const char *impl)
{
    return strstr(impl, "cudnn") ? "cuDNN" : strstr(impl, "cublas") ? "cuBLASLt" : "";
}

static void name_node(char name[LEVELS][128], const Binding *binding, int i, bool parts)
{
    const Node *node = &binding->plan->nodes[i];
    const Part part = part_of(binding->plan, node);
    char shape[96];
    op_rows_shape(binding->plan, node, shape, sizeof shape);
    snprintf(name[LEVEL_PHASE], 128, "%s", phase_name(node->phase));
    if (node->layer != PLAN_NONE) snprintf(name[LEVEL_LAYER], 128, "layer.%d", node->layer);
    if (parts && part != PART_COUNT) snprintf(name[LEVEL_PART], 128, "%s", part_name(part));
    snprintf(name[LEVEL_OP], 128, "%s %s", plan_op_name(node->op), shape);
    snprintf(name[LEVEL_LIBRARY], 128, "%s", library_of(binding->impls[i].name));
}

Status ranges_nvtx_open(RangesNvtx **out, const Binding *binding, bool parts)
{
    const int n = binding->plan->n_nodes;
    RangesNvtx *ranges = calloc(1, sizeof *ranges);
    if (ranges) ranges->name = calloc((size_t)n + 1, sizeof *ranges->name);
    if (!ranges || !ranges->name) {
        free(ranges);
        return NO_MEMORY("for the ranges of %d nodes", n);
    }
    ranges->n_nodes = n;
    for (int i = 0; i < n; i++) name_node(ranges->name[i], binding, i, parts);
    *out = ranges;
    return ST_OK;
}

void ranges_nvtx_close(RangesNvtx *ranges)
{
    if (ranges) free(ranges->name);
    free(ranges);
}

/* Ranges from this level in are not shared with the other node. Each op is a range of its own. */
static int first_own(const RangesNvtx *ranges, int node, int other)
{
    if (other < 0 || other >= ranges->n_nodes) return 0;
    int level = 0;
    while (level < LEVEL_OP && strcmp(ranges->name[node][level], ranges->name[other][level]) == 0)
        level++;
    return level;
}

static Status node_begin(void *self, const ObserverEvent *event)
{
    const RangesNvtx *ranges = self;
    for (int level = first_own(ranges, event->node, event->node - 1); level < LEVELS; level++) {
        if (*ranges->name[event->node][level]) nvtxRangePushA(ranges->name[event->node][level]);
    }
    return ST_OK;
}

static Status node_end(void *self, const ObserverEvent *event)
{
    const RangesNvtx *ranges = self;
    for (int level = LEVELS; level-- > first_own(ranges, event->node, event->node + 1);) {
        if (*ranges->name[event->node][level]) nvtxRangePop();
    }
    return ST_OK;
}

Observer ranges_nvtx_observer(RangesNvtx *ranges)
{
    return (Observer){.self = ranges, .begin = node_begin, .end = node_end};
}

void ranges_nvtx_push(const char *name)
{
    nvtxRangePushA(name);
}

void ranges_nvtx_pop(void)
{
    nvtxRangePop();
}
