#include "prof/range_tree.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* A range that the backward pass comes back to is one of the latest. */
enum { LOOK_BACK = 64 };

/* Length of the scope up to the end of component `level`; 0: it has none. */
static size_t prefix_length(const char *scope, int level)
{
    const char *at = scope;
    for (int i = 0; i < level; i++) {
        at = strchr(at, '/');
        if (!at) return 0;
        at++;
    }
    const char *end = level + 1 < RANGE_TREE_LEVELS ? strchr(at, '/') : NULL;
    return end ? (size_t)(end - scope) : strlen(scope);
}

static Status find_or_add(RangeTree *tree, const Node *node, int level, size_t length, int *at)
{
    const int least = tree->n > LOOK_BACK ? tree->n - LOOK_BACK : 0;
    for (*at = tree->n; (*at)-- > least;) {
        const Range *range = &tree->ranges[*at];
        if (range->phase == node->phase && range->level == level && range->name[length] == '\0' &&
            strncmp(range->name, node->scope, length) == 0) {
            return ST_OK;
        }
    }
    TRY(array_grow(&tree->ranges, (size_t)tree->n, 1, sizeof *tree->ranges));
    Range *range = &tree->ranges[ *at = tree->n++];
    *range = (Range){.phase = node->phase, .level = level, .last = -1};
    memcpy(range->name, node->scope, length);
    return ST_OK;
}

Status range_tree_make(RangeTree *tree, const Plan *plan)
{
    *tree = (RangeTree){.of = calloc((size_t)plan->n_nodes + 1, sizeof *tree->of),
                        .n_nodes = plan->n_nodes};
    if (!tree->of) return NO_MEMORY("for the ranges of %d nodes", plan->n_nodes);
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        for (int level = 0; level < RANGE_TREE_LEVELS; level++) {
            const size_t length =
                node->phase == PHASE_SETUP ? 0 : prefix_length(node->scope, level);
            tree->of[i][level] = -1;
            if (length) TRY(find_or_add(tree, node, level, length, &tree->of[i][level]));
        }
    }
    return ST_OK;
}

void range_tree_free(RangeTree *tree)
{
    free(tree->ranges);
    free(tree->of);
    *tree = (RangeTree){0};
}

bool range_tree_opens(const RangeTree *tree, int node, int level)
{
    return node == 0 || tree->of[node - 1][level] != tree->of[node][level];
}

bool range_tree_closes(const RangeTree *tree, int node, int level)
{
    return node + 1 == tree->n_nodes || tree->of[node + 1][level] != tree->of[node][level];
}
