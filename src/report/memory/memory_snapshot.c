#include "report/memory/memory_snapshot.h"

#include "base/array.h"
#include "report/memory/memory_columns.h"
#include "report/memory/pickle_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t plan_node_us = 100;
static const uint64_t base_address = UINT64_C(1) << 32; /* no address is 0 */

typedef struct SortedBlock {
    int64_t key;
    int block;
} SortedBlock;

/* While a file is being written. */
typedef struct Writing {
    const MemorySnapshot *snapshot;
    const MemoryBlocks *list;
    const Plan *plan;
    PickleWriter w;
    int64_t now_us;
    SortedBlock *alive;   /* after the last event, by address */
    SortedBlock *moments; /* made by the first step, by node */
    size_t n_alive, n_moments;
} Writing;

/* ---- where a block comes from ---- */

/* Layers share most of their frames: each is written once. */
static void put_frame(PickleWriter *w, const char *file, int64_t line, const char *name)
{
    CLEANUP(text_free) Text frame = {0};
    text_printf(&frame, "frame\n%s\n%lld\n%s", file, (long long)line, name);
    if (text_status(&frame) != ST_OK) w->status = ST_NO_MEMORY;
    if (!pickle_writer_known(w, text_str(&frame))) {
        pickle_writer_begin(w, '{');
        pickle_writer_fields(w, "filename=s line=i name=s", file, line, name);
        pickle_writer_end(w);
        pickle_writer_share(w, text_str(&frame));
    }
}

/* "h13 2048 x 8192 bf16" */
static void describe(const Writing *s, const MemoryBlock *b, Text *out)
{
    text_puts(out, memory_blocks_name(s->list, b).s);
    if (b->tensor == PLAN_NONE) return;
    const Tensor *t = &s->plan->tensors[b->tensor];
    for (int i = 0; i < t->n_dims; i++)
        text_printf(out, "%s%lld", i ? " x " : " ", (long long)t->dim[i]);
    text_printf(out, " %s", plan_dtype_name(t->dtype));
}

/* The op that makes it and the tensor; the node's scope, with its phase as the file and its number in the
 * plan as the line; the use. */
static void put_frames(Writing *s, int block)
{
    const MemoryBlock *b = &s->list->blocks[block];
    const Node *node = memory_blocks_node(s->list, b);
    const OpSource source = memory_blocks_source(s->list, b);
    CLEANUP(text_free) Text name = {0};
    char frames[32];
    snprintf(frames, sizeof frames, "frames\n%d", block);
    pickle_writer_key(&s->w, "frames");
    if (pickle_writer_known(&s->w, frames)) return;
    text_printf(&name, "%s: ", node ? plan_op_name(node->op) : "initial values");
    describe(s, b, &name);
    pickle_writer_begin(&s->w, '[');
    put_frame(&s->w, source.file, source.line, text_str(&name));
    if (node) put_frame(&s->w, plan_phase_name(node->phase), b->producer, node->scope);
    put_frame(&s->w, "use", 1, memory_blocks_class_name(b->usage));
    pickle_writer_end(&s->w);
    pickle_writer_share(&s->w, frames);
    if (text_status(&name) != ST_OK) s->w.status = ST_NO_MEMORY;
}

/* ---- events ---- */

static void begin_event(Writing *s, const char *action, uint64_t address, size_t bytes)
{
    pickle_writer_begin(&s->w, '{');
    pickle_writer_fields(&s->w, "action=s addr=i size=i stream=0 time_us=i", action,
                         (int64_t)(base_address + address), (int64_t)bytes, s->now_us);
}

static void put_alloc(Writing *s, int block)
{
    const MemoryBlock *b = &s->list->blocks[block];
    begin_event(s, "alloc", b->address, b->bytes);
    put_frames(s, block);
    pickle_writer_fields(&s->w, "category=s", memory_columns_style[b->usage].category);
    pickle_writer_end(&s->w);
}

/* The viewer joins the two events and expects them next to each other. */
static void put_free(Writing *s, int block)
{
    const MemoryBlock *b = &s->list->blocks[block];
    begin_event(s, "free_requested", b->address, b->bytes);
    put_frames(s, block);
    pickle_writer_end(&s->w);
    begin_event(s, "free_completed", b->address, b->bytes);
    pickle_writer_end(&s->w);
}

static bool is_kept(const Writing *s, const MemoryBlock *b)
{
    return b->tensor != PLAN_NONE && !b->persistent && s->plan->tensors[b->tensor].keep;
}

/* m and v appear with the first optimizer step, all else that stays before it. */
static bool born_in_first_step(const MemoryBlock *b)
{
    return b->usage == MEMORY_MOMENT && b->producer != PLAN_NONE;
}

static int64_t time_of(const Writing *s, int step, int node)
{
    const MemorySnapshot *m = s->snapshot;
    if (m->start_us) return m->epoch_us + (int64_t)m->start_us(m->self, step, node);
    return m->epoch_us + plan_node_us * ((int64_t)step * s->plan->n_nodes + node);
}

/* Frees the tensors that the last step kept, before the next step makes its own. */
static void free_kept(Writing *s)
{
    for (int i = 0; i < s->list->n; i++)
        if (is_kept(s, &s->list->blocks[i])) put_free(s, i);
}

static void put_step(Writing *s, int step)
{
    int born = 0, dead = 0;
    size_t moment = 0;
    while (born < s->list->n && s->list->blocks[born].persistent) born++;
    if (step > 0) free_kept(s);
    for (int node = 0; node < s->plan->n_nodes; node++) {
        const bool runs = step == 0 || s->plan->nodes[node].phase != PHASE_SETUP;
        if (runs) s->now_us = time_of(s, step, node);
        while (step == 0 && moment < s->n_moments && s->moments[moment].key == node)
            put_alloc(s, s->moments[moment++].block);
        for (; born < s->list->n && s->list->blocks[born].first == node; born++) {
            if (runs) put_alloc(s, born);
        }
        for (; dead < s->list->n_by_last; dead++) {
            const int block = s->list->by_last[dead];
            if (s->list->blocks[block].last != node) break;
            if (runs && !is_kept(s, &s->list->blocks[block])) put_free(s, block);
        }
    }
}

/* ---- segments ---- */

typedef struct Part {
    uint64_t begin;
    size_t bytes;
} Part;

/* Regions one after the other, then the arena, as memory_blocks.c numbers addresses. */
static int list_parts(const Writing *s, Part parts[TK_COUNT + 1])
{
    const MemPlan *mem = &s->list->binding->mem;
    uint64_t at = 0;
    int n = 0;
    for (int k = 0; k <= TK_COUNT; k++) {
        const size_t bytes = k < TK_COUNT ? mem->region[k] : mem->arena;
        if (bytes) parts[n++] = (Part){at, bytes};
        at += bytes;
    }
    return n;
}

static void put_block(Writing *s, uint64_t address, size_t bytes, int block)
{
    if (bytes == 0) return;
    pickle_writer_begin(&s->w, '{');
    pickle_writer_fields(&s->w, "address=i size=i requested_size=i state=s",
                         (int64_t)(base_address + address), (int64_t)bytes, (int64_t)bytes,
                         block == PLAN_NONE ? "inactive" : "active_allocated");
    if (block == PLAN_NONE) {
        pickle_writer_begin_in(&s->w, "frames", '[');
        pickle_writer_end(&s->w);
    } else {
        put_frames(s, block);
    }
    pickle_writer_end(&s->w);
}

/* The place among the alive blocks of the first one at or after that address. */
static size_t first_alive(const Writing *s, uint64_t from)
{
    return array_first_from(s->alive, s->n_alive, sizeof *s->alive, (int64_t)from);
}

/* Blocks tile the segment: what is alive after the last event, and the gaps. */
static void put_blocks(Writing *s, const Part *part)
{
    const size_t end = first_alive(s, part->begin + part->bytes);
    uint64_t at = part->begin;
    pickle_writer_begin_in(&s->w, "blocks", '[');
    for (size_t i = first_alive(s, at); i < end; i++) {
        const MemoryBlock *b = &s->list->blocks[s->alive[i].block];
        put_block(s, at, (size_t)(b->address - at), PLAN_NONE);
        put_block(s, b->address, b->bytes, s->alive[i].block);
        at = b->address + b->bytes;
    }
    put_block(s, at, (size_t)(part->begin + part->bytes - at), PLAN_NONE);
    pickle_writer_end(&s->w);
}

static size_t active_bytes(const Writing *s, const Part *part)
{
    const size_t end = first_alive(s, part->begin + part->bytes);
    size_t sum = 0;
    for (size_t i = first_alive(s, part->begin); i < end; i++)
        sum += s->list->blocks[s->alive[i].block].bytes;
    return sum;
}

static void put_session_frames(Writing *s)
{
    pickle_writer_begin_in(&s->w, "frames", '[');
    put_frame(&s->w, "src/exec/session.c", 1, "session_open");
    pickle_writer_end(&s->w);
}

static void put_segment(Writing *s, const Part *part)
{
    const int64_t active = (int64_t)active_bytes(s, part);
    pickle_writer_begin(&s->w, '{');
    pickle_writer_fields(&s->w,
                         "device=0 address=i total_size=i allocated_size=i active_size=i "
                         "requested_size=i stream=0 segment_type=s",
                         (int64_t)(base_address + part->begin), (int64_t)part->bytes, active,
                         active, active, "large");
    pickle_writer_key(&s->w, "segment_pool_id");
    pickle_writer_pair(&s->w, 0, 0);
    pickle_writer_key(&s->w, "is_expandable");
    pickle_writer_bool(&s->w, false);
    put_session_frames(s);
    put_blocks(s, part);
    pickle_writer_end(&s->w);
}

/* ---- all of it ---- */

static void put_trace(Writing *s, const Part *parts, int n_parts)
{
    pickle_writer_begin(&s->w, '[');
    for (int i = 0; i < n_parts; i++) {
        begin_event(s, "segment_alloc", parts[i].begin, parts[i].bytes);
        put_session_frames(s);
        pickle_writer_end(&s->w);
    }
    for (int i = 0; i < s->list->n && s->list->blocks[i].persistent; i++)
        if (!born_in_first_step(&s->list->blocks[i])) put_alloc(s, i);
    for (int step = 0; step < s->snapshot->steps; step++) put_step(s, step);
    begin_event(s, "snapshot", -base_address, 0);         /* address 0 */
    pickle_writer_fields(&s->w, "category=s", "unknown"); /* the viewer fails without one */
    pickle_writer_end(&s->w);
    pickle_writer_end(&s->w);
}

static void put_mark(Writing *s, const char *phase, const char *stage, int64_t time_us)
{
    pickle_writer_begin(&s->w, '{');
    pickle_writer_fields(&s->w, "name=s stage=s device=0 time_us=i", phase, stage, time_us);
    pickle_writer_end(&s->w);
}

static void put_phases(Writing *s)
{
    pickle_writer_begin(&s->w, '[');
    for (int step = 0; step < s->snapshot->steps; step++) {
        for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
            int begin = 0, end = 0;
            plan_phase_nodes(s->plan, (Phase)phase, &begin, &end);
            if (begin == end) continue;
            put_mark(s, plan_phase_name((Phase)phase), "START", time_of(s, step, begin));
            put_mark(s, plan_phase_name((Phase)phase), "END", time_of(s, step, end - 1));
        }
    }
    pickle_writer_end(&s->w);
}

/* The first 256 texts of a pickle are referred to in two bytes instead of five, so the words of events come
 * first. */
static void put_settings(Writing *s)
{
    static const char *const words[] = {"action",         "addr",          "size",     "stream",
                                        "time_us",        "frames",        "category", "alloc",
                                        "free_requested", "free_completed"};
    pickle_writer_begin_in(&s->w, "allocator_settings", '{');
    pickle_writer_fields(&s->w, "program=s", "roofstep");
    pickle_writer_begin_in(&s->w, "words", '[');
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) pickle_writer_text(&s->w, words[i]);
    for (int u = 0; u < MEMORY_COUNT; u++)
        pickle_writer_text(&s->w, memory_columns_style[u].category);
    pickle_writer_end(&s->w);
    pickle_writer_end(&s->w);
}

static void put_all(Writing *s)
{
    Part parts[TK_COUNT + 1];
    const int n_parts = list_parts(s, parts);
    pickle_writer_begin(&s->w, '{');
    put_settings(s);
    pickle_writer_begin_in(&s->w, "device_traces", '[');
    put_trace(s, parts, n_parts);
    pickle_writer_end(&s->w);
    pickle_writer_begin_in(&s->w, "segments", '[');
    for (int i = 0; i < n_parts; i++) put_segment(s, &parts[i]);
    pickle_writer_end(&s->w);
    pickle_writer_key(&s->w, "external_annotations");
    put_phases(s);
    pickle_writer_end(&s->w);
}

/* ---- lists in order ---- */

static int by_key(const void *a, const void *b)
{
    const SortedBlock *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

/* Fills both lists, whose memory has room for every block. */
static void sort_blocks(Writing *s)
{
    for (int i = 0; i < s->list->n; i++) {
        const MemoryBlock *b = &s->list->blocks[i];
        if (b->persistent || is_kept(s, b))
            s->alive[s->n_alive++] = (SortedBlock){(int64_t)b->address, i};
        if (b->persistent && born_in_first_step(b))
            s->moments[s->n_moments++] = (SortedBlock){b->producer, i};
    }
    qsort(s->alive, s->n_alive, sizeof *s->alive, by_key);
    qsort(s->moments, s->n_moments, sizeof *s->moments, by_key);
}

Status memory_snapshot_write(const MemorySnapshot *snapshot, const char *path)
{
    const MemoryBlocks *list = &snapshot->profile->blocks;
    const size_t most = (size_t)list->n + 1;
    CLEANUP(array_free) SortedBlock *sorted = malloc(2 * most * sizeof *sorted);
    if (!sorted) return NO_MEMORY("to put %d blocks in order", list->n);
    Writing s = {.snapshot = snapshot,
                 .list = list,
                 .plan = &list->model->plan,
                 .now_us = snapshot->epoch_us,
                 .alive = sorted,
                 .moments = sorted + most};
    sort_blocks(&s);
    TRY(pickle_writer_open(&s.w, path, !text_ends_with(path, ".json")));
    put_all(&s);
    return pickle_writer_finish(&s.w);
}
