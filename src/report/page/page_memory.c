#include "report/page/page_memory.h"

#include "base/array.h"
#include "base/i64.h"
#include "base/json_text.h"
#include "bench/record/record.h"
#include "prof/memory_blocks.h"
#include "report/format/table_write.h"
#include "report/memory/memory_columns.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 1 << 20, LARGEST = 20 };

/* ---- every cell ---- */

static const char *const names[] = {"size",      "ctx",  "batch",     "precision",
                                    "attention", "exec", "recompute", "mode"};
enum { NAMES = sizeof names / sizeof *names };

static void value_cell(Table *table, const json_t *cell, const char *name)
{
    int64_t whole;
    if (record_int(cell, name, &whole))
        table_cell_printf(table, "%lld", (long long)whole);
    else
        table_cell(table, record_text(cell, name));
}

static void all_cells(Table *table, const json_t *cells)
{
    static const struct {
        const char *path, *label;
    } figures[] = {{"forward_peak.total_mib", "forward alone"},
                   {"between_steps.total_mib", "between steps"},
                   {"peak.total_mib", "peak"},
                   {"reserved_mib", "reserved"},
                   {"measured.device_peak_mib", "measured"}};
    enum { FIGURES = sizeof figures / sizeof *figures };
    table->title = "Planned memory of every cell";
    for (int i = 0; i < NAMES; i++) table_column(table, names[i], "", i == 1 || i == 2);
    for (int i = 0; i < FIGURES; i++) table_column(table, figures[i].label, "MiB", true);
    TABLE_COLUMNS(table, 2, "peak in", "status");
    for (size_t r = 0; r < json_array_size(cells); r++) {
        const json_t *cell = json_array_get(cells, r);
        for (int i = 0; i < NAMES; i++) value_cell(table, cell, names[i]);
        for (int i = 0; i < FIGURES; i++)
            table_cell_number(table, "%.1f", record_real(cell, figures[i].path));
        TABLE_CELLS(table, record_text(cell, "peak.phase"), record_text(cell, "status"));
    }
    table_note(table, "from the plan; measured: what the device held at most");
}

/* ---- one cell ---- */

static void use_row(Table *table, const char *use, const char *field, const json_t *const *moments,
                    int n)
{
    bool any = false;
    for (int i = 0; i < n; i++) any = any || record_real(moments[i], field) > 0;
    if (!any) return;
    table_cell(table, use);
    for (int i = 0; i < n; i++) table_cell_number(table, "%.1f", record_real(moments[i], field));
}

static void by_use(Table *table, const json_t *cell)
{
    static const char *const paths[] = {"between_steps", "later_steps.forward",
                                        "later_steps.backward", "later_steps.optimizer"};
    static const char *const labels[] = {"between steps", "forward", "backward", "optimizer"};
    const json_t *moments[4];
    int n = 0;
    table->title = "What memory holds at the peak of each phase";
    table_column(table, "alive at the peak of", "", false);
    for (int i = 0; i < 4; i++) {
        const json_t *moment = record_value(cell, paths[i]);
        if (!json_is_object(moment)) continue;
        moments[n++] = moment;
        table_column(table, labels[i], "MiB", true);
    }
    for (int u = 0; u < MEMORY_COUNT; u++)
        use_row(table, memory_blocks_class_name((MemoryClass)u),
                memory_blocks_class_field((MemoryClass)u).s, moments, n);
    use_row(table, "total", "total_mib", moments, n);
}

typedef struct Alive {
    const json_t *block;
    double bytes;
} Alive;

static int by_size(const void *a, const void *b)
{
    const double x = ((const Alive *)a)->bytes, y = ((const Alive *)b)->bytes;
    return (x < y) - (x > y);
}

static void source_cell(Table *table, const json_t *block)
{
    const char *file = record_text(block, "source");
    int64_t line = 0;
    if (file && record_int(block, "line", &line))
        table_cell_printf(table, "%s:%lld", file, (long long)line);
    else
        table_cell(table, file);
}

static Status largest(Table *table, const json_t *cell)
{
    const json_t *blocks = json_object_get(cell, "blocks");
    const size_t n = json_array_size(blocks);
    int64_t node, born, died;
    size_t alive = 0;
    if (!record_int(cell, "peak.node", &node) || n == 0) return ST_OK;
    CLEANUP(array_free) Alive *list = calloc(n, sizeof *list);
    if (!list) return NO_MEMORY("for the page's memory tables");
    for (size_t i = 0; i < n; i++) {
        const json_t *block = json_array_get(blocks, i);
        Alive item = {block, 0};
        if (!record_int(block, "born", &born) || !record_int(block, "died", &died)) continue;
        if (born > node || died < node || !record_number(block, "bytes", &item.bytes)) continue;
        list[alive++] = item;
    }
    qsort(list, alive, sizeof *list, by_size);
    table->title = "The largest tensors at the peak";
    TABLE_COLUMNS(table, 1, "largest at the peak", "size (MiB)");
    TABLE_COLUMNS(table, 5, "use", "dtype", "op", "scope", "source");
    for (size_t i = 0; i < alive && i < LARGEST; i++) {
        const json_t *block = list[i].block;
        table_cell(table, record_text(block, "name"));
        table_cell_printf(table, "%.1f", list[i].bytes / (1024 * 1024));
        TABLE_CELLS(table, record_text(block, "use"), record_text(block, "dtype"),
                    record_text(block, "op"), record_text(block, "scope"));
        source_cell(table, block);
    }
    return ST_OK;
}

static Status one_cell(Text *out, const char *format, const json_t *cell)
{
    CLEANUP(table_free) Table table = {0};
    by_use(&table, cell);
    TRY(table_write_next(out, format, &table));
    TRY(largest(&table, cell));
    return table_write_next(out, format, &table);
}

Status page_memory_tables(Text *out, const char *format, const json_t *cells)
{
    Table table = {0};
    all_cells(&table, cells);
    TRY(table_write_next(out, format, &table));
    for (size_t i = 0; i < json_array_size(cells); i++) {
        const json_t *cell = json_array_get(cells, i);
        if (json_array_size(json_object_get(cell, "blocks"))) TRY(one_cell(out, format, cell));
    }
    return ST_OK;
}

/* ---- timelines ---- */

typedef struct Timeline {
    int64_t n;           /* nodes */
    double *change;      /* bytes of each use that each node adds or takes, [MEMORY_COUNT][n + 1] */
    const json_t **made; /* a tensor that each node makes, for its phase and scope; NULL: none */
} Timeline;

static bool is_alive(const json_t *block, int64_t n, int64_t *born, int64_t *died, double *bytes)
{
    return record_int(block, "born", born) && record_int(block, "died", died) &&
           record_number(block, "bytes", bytes) && *born >= 0 && *born <= *died && *died < n;
}

/* A plan has about as many tensors as nodes. The bound keeps memory in proportion to the length of
 * the file. */
static int64_t count_nodes(const json_t *blocks)
{
    enum { A_BLOCK = 64, ANY = 1024 };
    const int64_t told = ANY + A_BLOCK * (int64_t)json_array_size(blocks);
    const int64_t most = i64_min(told, MOST_NODES);
    int64_t n = 0, born, died;
    double bytes;
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        if (!is_alive(json_array_get(blocks, i), most, &born, &died, &bytes)) continue;
        if (died >= n) n = died + 1;
    }
    return n;
}

static void add_block(Timeline *t, const json_t *block)
{
    int64_t born, died;
    double bytes;
    const char *use = record_text(block, "use");
    if (!use || !is_alive(block, t->n, &born, &died, &bytes)) return;
    for (int u = 0; u < MEMORY_COUNT; u++) {
        if (strcmp(memory_blocks_class_name((MemoryClass)u), use) != 0) continue;
        t->change[u * (t->n + 1) + born] += bytes;
        t->change[u * (t->n + 1) + died + 1] -= bytes;
    }
    if (record_text(block, "phase") && record_text(block, "scope")) t->made[born] = block;
}

static json_t *use_json(const Timeline *t, MemoryClass use, double *most)
{
    json_t *mib = json_array();
    double bytes = 0;
    for (int64_t i = 0; i < t->n; i++) {
        bytes += t->change[(int64_t)use * (t->n + 1) + i];
        if (bytes > *most) *most = bytes;
        json_array_append_new(mib, json_real(bytes / (1024 * 1024)));
    }
    return json_pack("{s:s, s:s, s:o}", "name", memory_blocks_class_name(use), "colour",
                     memory_columns_style[use].colour, "mib", mib);
}

/* A node without tensors of its own has the word of the node before it. */
static json_t *words_json(const Timeline *t, const char *field)
{
    json_t *list = json_array();
    const char *last = "";
    for (int64_t i = 0; i < t->n; i++) {
        if (t->made[i]) last = record_text(t->made[i], field);
        json_array_append_new(list, json_string(last));
    }
    return list;
}

/* What sets the cell apart, and the node of its peak. */
static json_t *cell_json(const json_t *cell)
{
    static const char *const fields[] = {
        "size",      "d_model",   "d_ff", "num_layers", "num_heads", "vocab", "ctx",   "batch",
        "precision", "attention", "exec", "device",     "recompute", "mode",  "ranks", "peak",
    };
    json_t *json = json_object();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        json_t *value = json_object_get(cell, fields[i]);
        if (value) json_object_set(json, fields[i], value);
    }
    return json;
}

static json_t *timeline_json(const Timeline *t, const json_t *cell)
{
    CLEANUP(text_free) Text label = {0};
    json_t *shown = json_array();
    for (int i = 0; i < NAMES; i++) {
        int64_t whole;
        const char *text = record_text(cell, names[i]);
        if (text)
            text_printf(&label, "%s%s", label.n ? ", " : "", text);
        else if (record_int(cell, names[i], &whole))
            text_printf(&label, "%s%s %lld", label.n ? ", " : "", names[i], (long long)whole);
    }
    for (int u = 0; u < MEMORY_COUNT; u++) {
        double most = 0;
        json_t *use = use_json(t, (MemoryClass)u, &most);
        if (most > 0) json_array_append(shown, use);
        json_decref(use);
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "label", text_str(&label), "cell",
                     cell_json(cell), "phases", words_json(t, "phase"), "scopes",
                     words_json(t, "scope"), "uses", shown);
}

static Status add_timeline(json_t *list, const json_t *cell)
{
    const json_t *blocks = json_object_get(cell, "blocks");
    const size_t n = (size_t)count_nodes(blocks);
    if (n == 0) return ST_OK;
    CLEANUP(array_free) double *change = calloc((n + 1) * MEMORY_COUNT, sizeof *change);
    CLEANUP(array_free) const json_t **made = calloc(n, sizeof *made);
    if (!change || !made) return NO_MEMORY("for the page's memory tables");
    Timeline t = {.n = (int64_t)n, .change = change, .made = made};
    for (size_t i = 0; i < json_array_size(blocks); i++) add_block(&t, json_array_get(blocks, i));
    return json_array_append_new(list, timeline_json(&t, cell))
               ? NO_MEMORY("for the page's memory tables")
               : ST_OK;
}

Status page_memory_timelines(json_t **out, const json_t *cells)
{
    CLEANUP(json_text_free) json_t *list = json_array();
    if (!list) return NO_MEMORY("for the page's memory tables");
    for (size_t i = 0; i < json_array_size(cells); i++)
        TRY(add_timeline(list, json_array_get(cells, i)));
    *out = json_incref(list);
    return ST_OK;
}
