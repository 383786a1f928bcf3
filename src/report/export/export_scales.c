#include "report/export/export_scales.h"

#include "base/array.h"
#include "ops/fp8/quantize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A scale that a node makes: of which operands, and of which linear layer. */
typedef struct Made {
    int tensor;
    QuantizeClass operands;
    bool transposed;
    const char *scope;
} Made;

enum { MOST_MADE = 2 * QUANTIZE_PLACES };

/* An op that quantizes what it makes has a scope of its own: the layer is the one that reads it. */
static const char *layer_scope(const Plan *plan, const Node *node, int scale)
{
    for (int i = 0; i < plan->n_nodes && node->op != OP_quantize; i++) {
        const Node *reader = &plan->nodes[i];
        for (int k = 0; reader->op == OP_scaled_matmul && k < reader->n_in; k++) {
            if (plan_in_id(plan, reader, k) == scale) return reader->scope;
        }
    }
    return node->scope;
}

static int find_made(const Plan *plan, const Node *node, Made made[MOST_MADE])
{
    QuantizePlace place[QUANTIZE_PLACES];
    const int places = quantize_places(node, place);
    int n = 0;
    for (int i = 0; i < MOST_MADE && i / 2 < places; i++) {
        const QuantizePlace *p = &place[i / 2];
        const int scale = i % 2 ? QUANTIZE_OUT_TRANSPOSED_SCALE : QUANTIZE_OUT_SCALE;
        const int tensor = plan_out_id(plan, node, p->out + scale);
        if (tensor == PLAN_NONE) continue;
        made[n++] = (Made){tensor, p->class_of, i % 2, layer_scope(plan, node, tensor)};
    }
    return n;
}

/* "layer.3/ffn/w2", weights: "scale.layers.3.ffn.w2.weights", as parameters are called. */
static void put_name(char name[EXPORT_SCALE_NAME], const Made *made)
{
    const char *scope = made->scope + (strncmp(made->scope, "layer.", 6) == 0 ? 6 : 0);
    const int n =
        snprintf(name, EXPORT_SCALE_NAME, "scale.layers.%s.%s%s", scope,
                 quantize_class_name(made->operands), made->transposed ? ".transposed" : "");
    for (int i = 0; i < n; i++) {
        if (name[i] == '/') name[i] = '.';
    }
}

/* Does the forward pass quantize the same in this layout? Then what recomputation makes is the same again. */
static bool is_made_before(const Plan *plan, const Made *again)
{
    Made made[MOST_MADE];
    for (int i = 0; i < plan->n_nodes; i++) {
        if (plan->nodes[i].recomputed) continue;
        for (int k = find_made(plan, &plan->nodes[i], made) - 1; k >= 0; k--) {
            if (made[k].operands == again->operands && made[k].transposed == again->transposed &&
                strcmp(made[k].scope, again->scope) == 0)
                return true;
        }
    }
    return false;
}

static Status add(ExportScales *scales, const Plan *plan, const Node *node, const Made *made)
{
    if (node->recomputed && is_made_before(plan, made)) return ST_OK;
    ExportScale *scale = &scales->list[scales->n++];
    *scale = (ExportScale){.tensor = made->tensor,
                           .bytes = plan_bytes(&plan->tensors[made->tensor]),
                           .of_gradients = made->operands == QUANTIZE_GRADIENTS};
    put_name(scale->name, made);
    scale->values = malloc(scale->bytes * (size_t)scales->micro_batches);
    return scale->values ? ST_OK : NO_MEMORY("for the scales of a step");
}

/* Of those with the name of scale i: how many there are, and how many come before it. */
static int count_named(const ExportScales *scales, int i, int *before)
{
    int n = 0;
    for (int k = 0; k < scales->n; k++) {
        if (k == i) *before = n;
        n += strcmp(scales->list[k].name, scales->list[i].name) == 0;
    }
    return n;
}

/* Where q, k and v are quantized each by itself, they are 0, 1 and 2. Backward makes their gradients from the
 * last to the first. */
static Status number_same(ExportScales *scales)
{
    CLEANUP(array_free) int *numbers = malloc(((size_t)scales->n + 1) * sizeof *numbers);
    if (!numbers) return NO_MEMORY("for the names of scales");
    for (int i = 0; i < scales->n; i++) {
        int before = 0;
        const int same = count_named(scales, i, &before);
        const int number = scales->list[i].of_gradients ? same - 1 - before : before;
        numbers[i] = same > 1 ? number : PLAN_NONE;
    }
    for (int i = 0; i < scales->n; i++) {
        char *name = scales->list[i].name;
        const size_t n = strlen(name);
        if (numbers[i] != PLAN_NONE) snprintf(name + n, EXPORT_SCALE_NAME - n, ".%d", numbers[i]);
    }
    return ST_OK;
}

Status export_scales_find(ExportScales *scales, const Plan *plan)
{
    *scales = (ExportScales){.micro_batches = plan_phase_runs(plan, PHASE_FORWARD)};
    Made made[MOST_MADE];
    scales->list = calloc(MOST_MADE * (size_t)plan->n_nodes + 1, sizeof *scales->list);
    if (!scales->list) return NO_MEMORY("for the scales of a step");
    for (int i = 0; i < plan->n_nodes; i++) {
        const int n = find_made(plan, &plan->nodes[i], made);
        for (int k = 0; k < n; k++) TRY(add(scales, plan, &plan->nodes[i], &made[k]));
    }
    return number_same(scales);
}

void export_scales_free(ExportScales *scales)
{
    for (int i = 0; i < scales->n; i++) free(scales->list[i].values);
    free(scales->list);
    *scales = (ExportScales){0};
}

Status export_scales_declare(const ExportScales *scales, Safetensors *file, const Plan *plan)
{
    for (int i = 0; i < scales->n; i++) {
        const Tensor *t = &plan->tensors[scales->list[i].tensor];
        const int64_t dims[] = {scales->micro_batches, plan_rows(t), plan_width(t)};
        const int skipped = scales->micro_batches == 1;
        TRY(safetensors_declare(file, scales->list[i].name, DT_F32, 3 - skipped, dims + skipped));
    }
    return ST_OK;
}

static bool is_among(const Made *made, int n, int scale)
{
    for (int k = 0; k < n; k++) {
        if (made[k].tensor == scale) return true;
    }
    return false;
}

Status export_scales_take(const ExportScales *scales, Session *session, const Node *node,
                          int64_t micro_batch)
{
    Made made[MOST_MADE];
    const int n = find_made(session->plan, node, made);
    for (int i = 0; i < scales->n; i++) {
        const ExportScale *scale = &scales->list[i];
        if (!is_among(made, n, scale->tensor)) continue;
        TRY(session->api->sync(session->backend));
        TRY(session_download(session, scale->tensor,
                             scale->values + (size_t)micro_batch * scale->bytes));
    }
    return ST_OK;
}

Status export_scales_write(const ExportScales *scales, Safetensors *file)
{
    for (int i = 0; i < scales->n; i++)
        TRY(safetensors_data(file, scales->list[i].values,
                             scales->list[i].bytes * (size_t)scales->micro_batches));
    return ST_OK;
}
