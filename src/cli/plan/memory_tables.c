#include "base/array.h"
#include "base/human.h"
#include "bench/record/cell_label.h"
#include "cli/other_machine.h"
#include "cli/plan/memory_output.h"
#include "cli/plan/planned_config.h"
#include "model/step_cost.h"
#include "report/format/table_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double mib = 1024.0 * 1024.0;

static void mib_cell(Table *table, size_t bytes)
{
    table_cell_printf(table, "%.1f", (double)bytes / mib);
}

static void share_cell(Table *table, size_t bytes, size_t of)
{
    table_cell_printf(table, "%.1f %%", of ? 100 * (double)bytes / (double)of : 0.0);
}

/* ---- peaks ---- */

enum { MOST_MOMENTS = 1 + MEMORY_STEPS * PHASE_COUNT };

typedef struct Moments {
    const MemoryMoment *at[MOST_MOMENTS];
    char label[MOST_MOMENTS][40];
    int n;
} Moments;

static void add_moment(Moments *list, const MemoryMoment *moment, const char *prefix,
                       const char *name)
{
    if (moment->node == PLAN_NONE) return;
    snprintf(list->label[list->n], sizeof *list->label, "%s%s", prefix, name);
    list->at[list->n++] = moment;
}

/* Each phase of a later step and, where it differs, of the first. */
static Moments all_moments(const MemoryProfile *p)
{
    Moments list = {0};
    add_moment(&list, &p->between, "", "between steps");
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++)
        add_moment(&list, &p->peak[MEMORY_LATER_STEP][phase], "", plan_phase_name((Phase)phase));
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
        const MemoryMoment *first = &p->peak[MEMORY_FIRST_STEP][phase];
        if (first->total == p->peak[MEMORY_LATER_STEP][phase].total) continue;
        add_moment(&list, first, "first step: ", plan_phase_name((Phase)phase));
    }
    return list;
}

static void usage_row(Table *table, const Moments *list, MemoryClass usage)
{
    size_t most = 0;
    for (int i = 0; i < list->n; i++) {
        if (list->at[i]->usage[usage] > most) most = list->at[i]->usage[usage];
    }
    if (most == 0) return;
    table_cell(table, memory_blocks_class_name(usage));
    for (int i = 0; i < list->n; i++) mib_cell(table, list->at[i]->usage[usage]);
}

static void usages(Table *table, const MemoryCell *cell, const Sweep *sweep)
{
    const MemoryProfile *p = &cell->profile;
    const Moments list = all_moments(p);
    const MemoryMoment *peak = &p->highest[MEMORY_LATER_STEP];
    const Node *node = &cell->model.plan.nodes[peak->node];
    table->title = "What is alive at the peak of each phase";
    table_column(table, "alive at the peak of", "", false);
    for (int i = 0; i < list.n; i++) table_column(table, list.label[i], "MiB", true);
    TABLE_SPARE(table, "first step: forward (MiB)", "first step: backward (MiB)");
    for (int u = 0; u < MEMORY_COUNT; u++) usage_row(table, &list, (MemoryClass)u);
    table_cell(table, "all");
    for (int i = 0; i < list.n; i++) mib_cell(table, list.at[i]->total);
    planned_config_note(table, sweep, cell->config, &cell->placement, cell->attention);
    other_machine_note(table, &cell->placement, cell->machine);
    table_note_printf(table, "peak %s in %s, at %s (%s); %s parameters; the residual stream has %s",
                      human_bytes((double)peak->total).s, plan_phase_name(node->phase), node->scope,
                      plan_op_name(node->op), human_count(cell->parameters).s,
                      human_bytes((double)p->stream).s);
    table_note_printf(table, "reserved %s: the peak and %s of gaps between tensors",
                      human_bytes((double)p->reserved).s,
                      human_bytes((double)(p->reserved - peak->total)).s);
    if (cell->recomputed_blocks)
        table_note_printf(table, "%lld of %lld blocks are recomputed in backward: %sFLOP more",
                          (long long)cell->recomputed_blocks,
                          (long long)cell->config->model.num_layers,
                          human_si(step_cost_of(&cell->model.plan).step.recomputed_flops).s);
    planned_config_head_note(table, &cell->model.head);
    planned_config_fp8_note(table, cell->model.fp8.left);
    if (p->between.usage[MEMORY_MOMENT])
        table_note(table,
                   "m and v are reserved from the start and empty until the first optimizer step");
}

/* ---- the device ---- */

static void device_row(Table *table, const char *name, const Record *record, const char *field)
{
    double x = NAN;
    record_number(record, field, &x);
    table_cell(table, name);
    table_cell_number(table, "%.1f", x);
}

static void device(Table *table, const Record *record)
{
    double planned = 0, held = 0;
    table->title = "What the device says";
    TABLE_COLUMNS(table, 1, "measured on the device", "size (MiB)");
    device_row(table, "reserved by the plan", record, "peak_reserved_mib");
    device_row(table, "held for it", record, "device_peak_mib");
    device_row(table, "libraries, context, stacks", record, "library_mib");
    record_number(record, "device_peak_mib", &held);
    if (record_number(record, "peak_reserved_mib", &planned) && planned > 0) {
        table_note_printf(table, "measured minus planned: %+.1f MiB (%+.2f %%)", held - planned,
                          100 * (held - planned) / planned);
    }
    const char *mode = record_text(record, "measured_mode"),
               *message = record_text(record, "message");
    if (message) table_note_printf(table, "measured: %s; %s", mode ? mode : "nothing", message);
}

/* ---- the largest tensors ---- */

/* "4 x 128 x 10000 f32"; NULL: "-" */
static void shape_cell(Table *table, const Tensor *t)
{
    Text text = {0};
    for (int i = 0; t && i < t->n_dims; i++)
        text_printf(&text, "%s%lld", i ? " x " : "", (long long)t->dim[i]);
    if (t) text_printf(&text, " %s", plan_dtype_name(t->dtype));
    if (!t) text_puts(&text, "-");
    table_cell_text(table, &text);
}

static void largest_row(Table *table, const MemoryProfile *p, const MemorySaved *item, size_t of)
{
    const Plan *plan = &p->blocks.model->plan;
    const MemoryBlock *b = &p->blocks.blocks[item->block];
    const Node *node = memory_blocks_node(&p->blocks, b);
    const OpSource source = memory_blocks_source(&p->blocks, b);
    table_cell(table, memory_blocks_name(&p->blocks, b).s);
    mib_cell(table, b->bytes);
    share_cell(table, b->bytes, of);
    table_cell(table, memory_blocks_class_name(b->usage));
    shape_cell(table, b->tensor == PLAN_NONE ? NULL : &plan->tensors[b->tensor]);
    TABLE_CELLS(table, node ? plan_op_name(node->op) : "initial values", node ? node->scope : "-");
    table_cell_printf(table, "%s:%d", source.file, source.line);
}

static Status largest(Table *table, const MemoryCell *cell, int most)
{
    const MemoryProfile *p = &cell->profile;
    const MemoryMoment *peak = &p->highest[MEMORY_LATER_STEP];
    CLEANUP(array_free) MemorySaved *items = calloc((size_t)most + 1, sizeof *items);
    if (!items) return NO_MEMORY("for %d tensors", most);
    const int n = memory_profile_largest(p, peak->node, items, most);
    table->title = "The largest tensors at the peak";
    TABLE_COLUMNS(table, 1, "largest at the peak", "size (MiB)", "of the peak");
    TABLE_COLUMNS(table, 5, "use", "shape", "made by", "at", "source");
    TABLE_SPARE(table, "made by", "of the peak", "use");
    for (int i = 0; i < n; i++) largest_row(table, p, &items[i], peak->total);
    return ST_OK;
}

/* ---- activations ---- */

static void by_op(Table *table, const MemoryCell *cell)
{
    const MemoryProfile *p = &cell->profile;
    const size_t *usage = p->highest[MEMORY_LATER_STEP].usage;
    const size_t all = usage[MEMORY_ACTIVATION] + usage[MEMORY_RECOMPUTED];
    table->title = "Which ops hold the peak";
    TABLE_COLUMNS(table, 1, "activations at the peak by op", "size (MiB)", "share");
    for (int op = 0; op < OP_COUNT; op++) {
        if (p->by_op[op] == 0) continue;
        table_cell(table, plan_op_name((OpKind)op));
        mib_cell(table, p->by_op[op]);
        share_cell(table, p->by_op[op], all);
    }
}

static void saved_row(Table *table, const char *name, const char *where, size_t bytes, size_t of)
{
    TABLE_CELLS(table, name, where);
    mib_cell(table, bytes);
    table_cell_number(table, "%.1f %%", of ? 100 * (double)bytes / (double)of : NAN);
}

static void one_layer(Table *table, const MemoryCell *cell)
{
    const MemoryProfile *p = &cell->profile;
    const MemoryLayer *layer = &p->layer;
    char title[64];
    snprintf(title, sizeof title, "block %d saves for backward", layer->layer);
    TABLE_COLUMNS(table, 2, title, "made at", "size (MiB)", "share");
    size_t rest = layer->saved;
    for (int i = 0; i < layer->n_largest; i++) {
        const MemoryBlock *b = &p->blocks.blocks[layer->largest[i].block];
        saved_row(table, memory_blocks_name(&p->blocks, b).s,
                  memory_blocks_node(&p->blocks, b)->scope, b->bytes, layer->saved);
        rest -= b->bytes;
    }
    if (rest) saved_row(table, "the others", "", rest, layer->saved);
    saved_row(table, "all it saves", "", layer->saved, layer->saved);
    saved_row(table, "its weights' gradients", "", layer->weight_gradients, 0);
    saved_row(table, "gradients of its activations, at most at once", "",
              layer->activation_gradients, 0);
    if (layer->recomputed)
        saved_row(table, "recomputed, at most at once", "", layer->recomputed, 0);
}

Status memory_tables_one(Text *out, const char *format, const Settings *settings,
                         const Sweep *sweep, const MemoryCell *cell)
{
    Table table = {0};
    usages(&table, cell, sweep);
    TRY(table_write_next(out, format, &table));
    if (cell->measured) {
        device(&table, cell->measured);
        TRY(table_write_next(out, format, &table));
    }
    if (settings->top > 0) {
        TRY(largest(&table, cell, (int)settings->top));
        TRY(table_write_next(out, format, &table));
    }
    by_op(&table, cell);
    TRY(table_write_next(out, format, &table));
    if (cell->config->mode == MODE_FWD) return ST_OK;
    one_layer(&table, cell);
    return table_write_next(out, format, &table);
}

/* ---- many cells ---- */

/* Only a measurement of this mode counts, not of a smaller mode that ran instead. */
static void device_cell(Table *table, const Record *record, Mode mode)
{
    double held = NAN;
    const char *measured = record ? record_text(record, "measured_mode") : NULL;
    if (measured && strcmp(measured, config_modes[mode]) == 0)
        record_number(record, "device_peak_mib", &held);
    if (isnan(held) && record && record_status(record) == RECORD_OOM)
        table_cell(table, "OOM");
    else
        table_cell_number(table, "%.1f", held);
}

static void many_row(Table *table, const MemoryCell *cell, const char *label, bool ran)
{
    if (cell->unsupported) {
        planned_config_unsupported(table, label, cell->message);
        return;
    }
    table_cell(table, label);
    const MemoryMoment *peak = &cell->asked.highest;
    mib_cell(table, cell->forward.highest.total);
    mib_cell(table, peak->total);
    mib_cell(table, cell->asked.between.total);
    mib_cell(table, peak->usage[MEMORY_GRAD]);
    mib_cell(table, peak->usage[MEMORY_ACTIVATION] + peak->usage[MEMORY_RECOMPUTED]);
    mib_cell(table, peak->usage[MEMORY_LOGITS]);
    mib_cell(table, peak->usage[MEMORY_ACTIVATION_GRAD] + peak->usage[MEMORY_WORKSPACE]);
    mib_cell(table, cell->asked.reserved);
    if (!ran) return;
    device_cell(table, cell->measured_forward, MODE_FWD);
    device_cell(table, cell->measured, cell->config->mode);
}

Status memory_tables_many(Text *out, const char *format, const Sweep *sweep,
                          const MemoryCell *cells)
{
    Table table = {0};
    bool ran = false;
    for (int i = 0; i < sweep->n; i++) ran = ran || cells[i].measured;
    table.title = "Memory of every cell";
    TABLE_COLUMNS(&table, 1, "cell", "forward alone (MiB)", "peak (MiB)", "between steps (MiB)",
                  "gradients (MiB)", "activations (MiB)", "logits (MiB)",
                  "activation gradients, workspace (MiB)", "reserved (MiB)");
    if (ran) TABLE_COLUMNS(&table, 0, "device: forward alone (MiB)", "device: reserved (MiB)");
    TABLE_SPARE(&table, "activation gradients, workspace (MiB)", "logits (MiB)", "gradients (MiB)");
    for (int i = 0; i < sweep->n; i++)
        many_row(&table, &cells[i], cell_label(cells[i].config, sweep->varies).s, ran);
    const MemoryCell *cell = cells; /* the first that is supported, or the last */
    while (cell < cells + sweep->n - 1 && cell->unsupported) cell++;
    planned_config_note(&table, sweep, cell->config, cell->unsupported ? NULL : &cell->placement,
                        cell->attention);
    if (!cell->unsupported) other_machine_note(&table, &cell->placement, cell->machine);
    table_note(
        &table,
        "forward alone: the peak without activations saved for backward; gradients to workspace: "
        "their part of the peak");
    if (ran)
        table_note(
            &table,
            "device: memory in use for the plan after two steps: touched pages on a CPU, memory "
            "that closing frees on a GPU");
    return table_write_next(out, format, &table);
}
