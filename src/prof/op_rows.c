#include "prof/op_rows.h"

#include "ops/cpu/matmul_cpu.h"
#include "ops/fp8/quantize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void op_rows_shape(const Plan *plan, const Node *node, char *text, size_t size)
{
    enum { MOST = 6 }; /* the optimizer has hundreds */
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; i < node->n_out + node->n_in && i < MOST; i++) {
        const int id = plan->operands[node->first + i];
        if (id == PLAN_NONE) continue;
        const Tensor *t = &plan->tensors[id];
        for (int d = 0; d < t->n_dims && n < size; d++) {
            n += (size_t)snprintf(text + n, size - n, "%s%lld",
                                  d   ? "x"
                                  : n ? " "
                                      : "",
                                  (long long)t->dim[d]);
        }
    }
}

static const char *operands_of(const Node *node)
{
    return node->op == OP_quantize ? quantize_class_name((QuantizeClass)node->attr.fn) : NULL;
}

static bool same(const OpRow *row, const Plan *plan, const Node *node, const char *impl)
{
    return row->phase == node->phase && row->op == node->op && row->part == part_of(plan, node) &&
           row->operands == operands_of(node) && strcmp(row->impl, impl) == 0 &&
           strcmp(row->scope, part_scope(node)) == 0;
}

static bool multiplies(OpKind op)
{
    return op == OP_matmul || op == OP_bmm || op == OP_attention || op == OP_attention_grad;
}

static bool is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0) list++;
    return *list != NULL;
}

/* "rmsnorm_cpu" of rmsnorm: the only one there is. */
static bool is_own(OpKind op, const char *impl)
{
    static const char *const ours[] = {"_cpu", "_cuda", NULL};
    const size_t n = strlen(plan_op_name(op));
    return strncmp(impl, plan_op_name(op), n) == 0 && is_one_of(impl + n, ours);
}

/* Products are chosen by one name, as "auto", and computed by another; what has no choice is our own. */
static Status name_maker(OpRow *row, const Binding *binding, int i)
{
    static const char *const chosen[] = {"auto", "own", "blas", "blas_f64", NULL};
    const Node *node = &binding->plan->nodes[i];
    const char *impl = binding->impls[i].name;
    const bool flash = strcmp(impl, "flash") == 0;
    CLEANUP(text_free) Text by = {0};
    if (binding->backend == BACKEND_cpu && multiplies(row->op) &&
        (flash || is_one_of(impl, chosen))) {
        if (flash) text_puts(&by, "flash, ");
        matmul_by(binding->plan, node, &binding->impls[i], &by);
    } else if (is_own(row->op, impl)) {
        text_puts(&by, "own");
    } else {
        text_puts(&by, impl);
    }
    snprintf(row->by, sizeof row->by, "%s", text_str(&by));
    return text_status(&by);
}

static int find_or_add(OpRows *rows, const Plan *plan, const Node *node, const char *impl)
{
    for (int i = rows->n; i-- > 0;) { /* most often one of the last */
        if (same(&rows->rows[i], plan, node, impl)) return i;
    }
    OpRow *row = &rows->rows[rows->n];
    *row = (OpRow){.phase = node->phase,
                   .op = node->op,
                   .impl = impl,
                   .category = part_category(plan, node),
                   .part = part_of(plan, node),
                   .operands = operands_of(node)};
    snprintf(row->scope, sizeof row->scope, "%s", part_scope(node));
    op_rows_shape(plan, node, row->shape, sizeof row->shape);
    return rows->n++;
}

Status op_rows_make(OpRows *rows, const Binding *binding)
{
    const Plan *plan = binding->plan;
    *rows = (OpRows){.rows = calloc((size_t)plan->n_nodes + 1, sizeof *rows->rows),
                     .row = malloc(((size_t)plan->n_nodes + 1) * sizeof *rows->row)};
    if (!rows->rows || !rows->row) {
        op_rows_free(rows);
        return NO_MEMORY("to profile %d nodes", plan->n_nodes);
    }
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        rows->row[i] = -1;
        if (node->phase == PHASE_SETUP) continue;
        rows->row[i] = find_or_add(rows, plan, node, binding->impls[i].name);
        OpRow *row = &rows->rows[rows->row[i]];
        if (row->nodes == 0) TRY(name_maker(row, binding, i));
        const OpCost cost = op_cost(plan, node);
        const int64_t runs = plan_phase_runs(plan, node->phase);
        row->nodes += (int)runs;
        row->flops += (double)runs * cost.flops;
        row->bytes += (double)runs * cost.bytes;
    }
    return ST_OK;
}

void op_rows_memory(OpRows *rows, const MemoryBlocks *blocks)
{
    for (int i = 0; i < blocks->n; i++) {
        const MemoryBlock *block = &blocks->blocks[i];
        if (block->persistent || block->producer == PLAN_NONE || rows->row[block->producer] < 0)
            continue;
        rows->rows[rows->row[block->producer]].allocated += (double)block->bytes;
    }
}

void op_rows_free(OpRows *rows)
{
    free(rows->rows);
    free(rows->row);
    *rows = (OpRows){0};
}
