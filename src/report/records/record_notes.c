#include "report/records/record_notes.h"

#include "base/human.h"
#include "base/json_text.h"
#include "base/text_groups.h"
#include "bench/record/record_stat.h"
#include "report/records/cell_text.h"
#include "report/records/rerun_command.h"

#include <math.h>
#include <string.h>

void record_notes_common(Table *table, const RecordSet *set)
{
    char value[COLUMN_TEXT];
    Text text = {0};
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        if (!column_common(column, set, value)) continue;
        text_printf(&text, "%s %s %s", text.n ? "," : "Common:", column->label, value);
    }
    table_note_text(table, &text);
}

void record_notes_label(Text *text, const ColumnSet *shown, const Record *record)
{
    if (!column_label(text, shown, record)) text_puts(text, "result");
}

/* ---- problems, once for all rows with the same message ---- */

/* "\r" tells no text from an empty one. */
static void put_text(Text *out, const char *text)
{
    text_printf(out, "%s\n", text ? text : "\r");
}

static Status find_problems(TextGroups *problems, Text *text, const RecordSet *set)
{
    TRY(text_groups_init(problems, record_set_size(set)));
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *record = record_set_at(set, i);
        text_printf(text, "%d ", (int)record_status(record));
        put_text(text, record_text(record, "message"));
        TRY(text_groups_put(problems, i, text));
    }
    return ST_OK;
}

static void put_problem(Table *table, Text *text, const RecordSet *set, const TextGroups *problems,
                        const ColumnSet *shown, size_t row)
{
    enum { MOST_LABELS = 6 };
    const Record *record = record_set_at(set, row);
    const char *message = record_text(record, "message");
    size_t alike = 0;
    if (record_status(record) == RECORD_OK || !text_groups_leads(problems, row)) return;
    for (size_t i = row; i < record_set_size(set); i = text_groups_next(problems, i)) {
        if (++alike > MOST_LABELS) continue;
        if (alike > 1) text_puts(text, "; ");
        record_notes_label(text, shown, record_set_at(set, i));
    }
    if (alike > MOST_LABELS) text_printf(text, "; and %zu more", alike - MOST_LABELS);
    text_printf(text, ": %s", cell_text_status(record_status(record)));
    if (message) text_printf(text, ": %s", message);
    table_note_text(table, text);
}

/* A phase's reason, unless the result's own says it already. */
static void put_phases(Table *table, Text *text, const ColumnSet *shown, const Record *record)
{
    static const char *const phases[] = {"forward", "backward", "optimizer", "step"};
    const char *told = record_text(record, "message");
    for (size_t p = 0; p < sizeof phases / sizeof *phases; p++) {
        const json_t *phase = record_value(record, phases[p]);
        const char *reason = phase ? record_text(phase, "message") : NULL;
        if (!reason || (told && strstr(told, reason))) continue;
        record_notes_label(text, shown, record);
        text_printf(text, ", %s: %s: %s", phases[p],
                    cell_text_status(record_phase_status(record, phases[p])), reason);
        table_note_text(table, text);
        told = reason;
    }
}

static void put_part(Text *text, const json_t *environment, const char *path, const char *before,
                     const char *after)
{
    const char *word = record_text(environment, path);
    int64_t n;
    if (word) {
        text_printf(text, "%s%s%s%s", text->n ? ", " : "", before, word, after);
    } else if (record_int(environment, path, &n)) {
        text_printf(text, "%s%s%lld%s", text->n ? ", " : "", before, (long long)n, after);
    }
}

/* "Neoverse-V1, aarch64, 2 cores, 7.6 GiB, BLIS 0.9.0, governor performance; roofstep 0.1.0 ..." */
static void put_environment(Table *table, Text *text, const json_t *environment, bool with_id)
{
    const char *command = record_text(environment, "command");
    CLEANUP(text_free) Text again = {0};
    double mib;
    if (command) rerun_command(&again, command);
    if (with_id) put_part(text, environment, "id", "environment ", "");
    put_part(text, environment, "cpu", "", "");
    put_part(text, environment, "architecture", "", "");
    put_part(text, environment, "usable_cores", "", " cores");
    if (record_number(environment, "memory_mib", &mib)) {
        text_printf(text, ", %s", human_bytes(mib * 1024 * 1024).s);
    }
    put_part(text, environment, "gpu", "", "");
    put_part(text, environment, "gpu_driver", "driver ", "");
    put_part(text, environment, "libraries.cuda", "CUDA ", "");
    put_part(text, environment, "libraries.blas", "", "");
    put_part(text, environment, "governor", "governor ", "");
    put_part(text, environment, "version", "roofstep ", "");
    put_part(text, environment, "commit", "commit ", "");
    put_part(text, environment, "compiler", "", "");
    put_part(text, environment, "flags", "", "");
    put_part(text, environment, "time_utc", "", "");
    table->failed = table->failed || again.failed || text->failed;
    if (text->n) table_note_code(table, text_str(text), command ? text_str(&again) : NULL);
    text_free(text);
}

/* The BLAS library of a peer, and the trial times of the others; `told` has those of rows before. */
static void put_peer_blas(Table *table, Text *text, json_t *told, const Record *record)
{
    int64_t ctx = 0;
    const char *path = record_text(record, "blas_path");
    const char *tried = record_text(record, "blas_tried");
    if (!path || !record_text(record, "peer")) return;
    put_text(text, path);
    put_text(text, tried);
    const bool again = json_object_get(told, text_str(text));
    if (!again && json_object_set_new(told, text_str(text), json_true())) table->failed = true;
    text_clear(text);
    if (again) return;
    record_int(record, "ctx", &ctx);
    text_printf(text, "%s %s, %s over %lld tokens: matrix multiplications by %s, %s",
                record_text(record, "peer"), record_text(record, "variant"),
                record_text(record, "size") ? record_text(record, "size") : "attention",
                (long long)ctx, record_text(record, "blas"), path);
    if (tried) text_printf(text, "; short trials: %s", tried);
    table_note_text(table, text);
}

/* ---- definitions of the figures ---- */

static bool any_has(const RecordSet *set, const char *path, bool of_peers)
{
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *row = record_set_at(set, i);
        if (!isnan(record_real(row, path)) && (!of_peers || record_text(row, "peer"))) return true;
    }
    return false;
}

void record_notes_stat(Table *table, Stat stat)
{
    static const char *const lines[STAT_COUNT] = {
        [STAT_MEDIAN] =
            ("times are medians; ± is the distance to the farther end of the 95 % interval "
             "(rank-based, from 6 samples on)"),
        [STAT_MEAN] = "times are means; ± is the standard deviation",
        [STAT_MIN] = "times are the fastest samples"};
    table_note(table, lines[stat]);
}

void record_notes_busy(Table *table, const RecordSet *set)
{
    double most = 0;
    for (size_t i = 0; i < record_set_size(set); i++) {
        const double busy = record_real(record_set_at(set, i), "limit_busy_percent");
        if (busy > most) most = busy;
    }
    if (most == 0) return;
    table_note_printf(table,
                      "others used %.0f %% of the device while its limits were measured: they may "
                      "be too low, MFU and %% of limit too high",
                      most);
}

void record_notes_definitions(Table *table, const RecordSet *set)
{
    static const struct {
        const char *path, *line;
        bool of_peers;
    } list[] = {
        {"peer_ratio", "peer / ours = step time of the peer's fastest variant / ours"},
        {"tokens_per_unit", "tokens for 1: for one unit of --price, while steps run; nothing else "
                            "that costs is counted"},
        {"mfu", "MFU = FLOP/s of matrix multiplications and attention / highest measured rate"},
        {"percent_of_limit",
         "% of limit = shortest possible time at the measured rates / actual time"},
        {"logits_chunks", "chunks of logits: where backward follows, the head's gradients are "
                          "computed with the loss "
                          "of each chunk, in the time of forward"},
        {"peak_alloc_mib", "peak = most bytes of tensors alive at once, by the plan"},
        {"peak_alloc_mib", "peak of a peer = most bytes its own allocator counted", true},
        {"dropout", "dropout ran as 0, though the file of a model asks for some"},
    };
    if (any_has(set, "step.mean_ms", false) || any_has(set, "forward.mean_ms", false))
        record_notes_stat(table, record_stat_of_set(set));
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (any_has(set, list[i].path, list[i].of_peers)) table_note(table, list[i].line);
    }
    record_notes_busy(table, set);
}

/* The note, unless a row before has told it. */
static void put_once(Table *table, Text *text, json_t *told)
{
    const bool again = json_object_get(told, text_str(text));
    if (!again && json_object_set_new(told, text_str(text), json_true())) table->failed = true;
    if (again) text_clear(text);
    table_note_text(table, text);
}

/* Linear layers that an fp8 step leaves in bf16, and why. */
static void put_fp8(Table *table, Text *text, json_t *told, const Record *record)
{
    const char *layers = record_text(record, "fp8_layers"), *left = record_text(record, "fp8_left");
    if (layers && strcmp(layers, "all") != 0) {
        text_printf(text, "fp8 in %s; the other linear layers are bf16", layers);
        put_once(table, text, told);
    }
    if (!left) return;
    text_printf(text, "%s stay in bf16: fp8 takes sizes that are multiples of 16, and no experts",
                left);
    put_once(table, text, told);
}

void record_notes_rows(Table *table, const RecordSet *set, const ColumnSet *shown,
                       const RowWarnings *warnings)
{
    CLEANUP(text_free) Text text = {0};
    CLEANUP(text_groups_free) TextGroups problems = {0};
    CLEANUP(json_text_free) json_t *told = json_object();
    if (find_problems(&problems, &text, set) != ST_OK) table->failed = true;
    for (size_t i = 0; i < record_set_size(set) && !table->failed; i++) {
        put_peer_blas(table, &text, told, record_set_at(set, i));
        put_problem(table, &text, set, &problems, shown, i);
        put_phases(table, &text, shown, record_set_at(set, i));
        put_fp8(table, &text, told, record_set_at(set, i));
    }
    row_warnings_put(warnings, table);
    const size_t n = json_array_size(set->environments);
    for (size_t i = 0; i < n; i++) {
        put_environment(table, &text, json_array_get(set->environments, i), n > 1);
    }
}
