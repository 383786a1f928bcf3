#include "base/array.h"
#include "base/human.h"
#include "base/json_text.h"
#include "base/text_groups.h"
#include "bench/record/profile_view.h"
#include "report/findings/faster_choice.h"
#include "report/findings/summary.h"
#include "report/records/cell_command.h"
#include "report/records/column.h"

#include <math.h>
#include <string.h>

/* ---- another choice for the same step ---- */

/* "small ctx 512 fp32 ": words alone, numbers with their names. */
static void put_cell(Text *out, const RecordSet *rows, const Record *record)
{
    const ColumnSet shown = result_input_distinct(rows);
    char value[COLUMN_TEXT];
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        if (!shown.has[c] || !column_text(column, record, value)) continue;
        if (column->kind != COLUMN_WORD) text_printf(out, "%s ", column->label);
        text_printf(out, "%s ", value);
    }
}

static void put_faster(Text *text, const FasterChoice *f)
{
    if (!f) {
        text_puts(
            text,
            "Biggest win: none; no other --precision or --exec measured here is surely faster.");
        return;
    }
    text_printf(text, "Biggest win: --%s %s makes the ", f->field,
                record_text(record_set_at(f->rows, f->to), f->field));
    put_cell(text, f->rows, record_set_at(f->rows, f->from));
    text_printf(text, "step %.0f %% shorter.", 100 * f->saved);
}

/* ---- an op far from the limits ---- */

typedef struct Slow {
    const char *op; /* NULL: none */
    Phase phase;
    int file;
    const Record *record; /* the profiled cell; borrowed */
    double time, least;   /* ns of one step */
    double step;          /* ns of the whole of it */
} Slow;

/* At the limits; NAN where they are not known. */
static double least_time(const ProfileView *view, const ViewOp *op)
{
    if (isnan(view->limit_flops)) return NAN; /* fmax() would go by the bytes alone */
    return 1e9 * fmax(op->flops / view->limit_flops, op->bytes / view->limit_bandwidth);
}

static double excess(const Slow *slow)
{
    return slow->op ? slow->time - slow->least : 0;
}

static Slow sum_op(const ProfileView *view, const TextGroups *ops, size_t first)
{
    Slow slow = {
        .op = view->ops[first].op, .phase = view->ops[first].phase, .step = view->step.avg};
    for (size_t i = first; i < ops->n; i = text_groups_next(ops, i)) {
        slow.time += view->ops[i].time.total / (double)view->steps;
        slow.least += least_time(view, &view->ops[i]);
    }
    return slow;
}

/* By what it could save; with `longest`, by all its time. */
static bool is_slower(const Slow *slow, const Slow *best, bool longest)
{
    if (longest) return slow->time > best->time;
    return isfinite(slow->least) && excess(slow) > excess(best);
}

/* Groups rows of one op in one phase, whichever layer they belong to. Names are the record's. */
static Status find_slow(Slow *best, Text *name, const Record *record, bool longest)
{
    CLEANUP(profile_view_free) ProfileView view = {0};
    CLEANUP(text_groups_free) TextGroups ops = {0};
    if (!json_is_object(record_value(record, "profile"))) return ST_OK;
    TRY(profile_view_make(&view, record));
    TRY(text_groups_init(&ops, (size_t)view.n_ops));
    for (size_t i = 0; i < ops.n; i++) {
        text_printf(name, "%d %s", (int)view.ops[i].phase, view.ops[i].op);
        TRY(text_groups_put(&ops, i, name));
    }
    for (size_t i = 0; i < ops.n; i++) {
        if (!text_groups_leads(&ops, i)) continue;
        Slow slow = sum_op(&view, &ops, i);
        slow.record = record;
        slow.file = best->file;
        if (is_slower(&slow, best, longest)) *best = slow;
    }
    return ST_OK;
}

static void put_slow(Text *text, const Slow *slow)
{
    text_printf(
        text,
        "Most to gain from faster code: %s in %s takes %s of a profiled step, at the limits %s: "
        "%.0f %% of the step.",
        slow->op, plan_phase_name(slow->phase), human_seconds(slow->time * 1e-9).s,
        human_seconds(slow->least * 1e-9).s, 100 * excess(slow) / slow->step);
}

Status advice_put_gap(Text *out, const RecordSet *rows)
{
    CLEANUP(text_free) Text name = {0};
    Slow slow = {0}, longest = {0};
    for (size_t i = 0; i < record_set_size(rows); i++) {
        TRY(find_slow(&slow, &name, record_set_at(rows, i), false));
        TRY(find_slow(&longest, &name, record_set_at(rows, i), true));
    }
    if (slow.op && slow.step > 0)
        put_slow(out, &slow);
    else if (longest.op && longest.step > 0)
        text_printf(out, "Most time: %s in %s takes %s of a profiled step, %.0f %% of it.",
                    longest.op, plan_phase_name(longest.phase),
                    human_seconds(longest.time * 1e-9).s, 100 * longest.time / longest.step);
    return ST_OK;
}

/* ---- both ---- */

typedef struct Advice {
    FasterChoices faster;
    Slow *slow; /* of each profiled cell */
    size_t n_slow;
    Text name; /* work space */
    int measured;
} Advice;

static void free_all(Advice *a)
{
    faster_choice_free(&a->faster);
    array_free(&a->slow);
    text_free(&a->name);
}

static int count_measured(const RecordSet *rows)
{
    int n = 0;
    double ms;
    for (size_t i = 0; i < record_set_size(rows); i++)
        n += faster_choice_step(record_set_at(rows, i), &ms);
    return n;
}

static Status add_slow(Advice *a, const Record *record, int file)
{
    Slow slow = {.file = file};
    TRY(find_slow(&slow, &a->name, record, false));
    if (!slow.op || !(slow.step > 0)) return ST_OK;
    TRY(array_grow(&a->slow, a->n_slow, 1, sizeof *a->slow));
    a->slow[a->n_slow++] = slow;
    return ST_OK;
}

static Status find_all(Advice *a, const ResultInput *files, int n)
{
    for (int f = 0; f < n; f++) {
        TRY(faster_choice_add(&a->faster, &files[f].kind[RESULT_MODEL]));
        a->measured += count_measured(&files[f].kind[RESULT_MODEL]);
        for (size_t i = 0; i < record_set_size(&files[f].rows); i++)
            TRY(add_slow(a, record_set_at(&files[f].rows, i), f));
    }
    return ST_OK;
}

static const Slow *slowest(const Advice *a)
{
    const Slow *most = NULL;
    for (size_t i = 0; i < a->n_slow; i++) {
        if (!most || excess(&a->slow[i]) > excess(most)) most = &a->slow[i];
    }
    return most;
}

Status advice_add(json_t *lines, const ResultInput *files, int n)
{
    CLEANUP(free_all) Advice advice = {0};
    CLEANUP(text_free) Text text = {0};
    TRY(find_all(&advice, files, n));
    if (advice.measured > 1) put_faster(&text, faster_choice_best(&advice.faster));
    TRY(json_text_append(lines, &text));
    if (slowest(&advice)) put_slow(&text, slowest(&advice));
    return json_text_append(lines, &text);
}

static int file_of(const ResultInput *files, const RecordSet *rows)
{
    int f = 0;
    while (&files[f].kind[RESULT_MODEL] != rows) f++;
    return f;
}

static Status add_win(json_t *wins, const FasterChoice *f, int file)
{
    CLEANUP(text_free) Text command = {0};
    const Record *from = record_set_at(f->rows, f->from);
    const char *value = record_text(record_set_at(f->rows, f->to), f->field);
    cell_command(&command, from, f->field, value);
    TRY(text_status(&command));
    json_t *win = json_pack("{s:i, s:s?, s:s, s:s, s:f, s:s}", "file", file, "cell",
                            record_key(from), "field", f->field, "value", value, "shorter_percent",
                            100 * f->saved, "command", text_str(&command));
    return json_array_append_new(wins, win) ? NO_MEMORY("for advice") : ST_OK;
}

static Status add_gap(json_t *gaps, const Slow *slow)
{
    json_t *gap = json_pack("{s:i, s:s?, s:s, s:s, s:f, s:f, s:f}", "file", slow->file, "cell",
                            record_key(slow->record), "op", slow->op, "phase",
                            plan_phase_name(slow->phase), "ms", slow->time * 1e-6, "least_ms",
                            slow->least * 1e-6, "step_percent", 100 * excess(slow) / slow->step);
    return json_array_append_new(gaps, gap) ? NO_MEMORY("for advice") : ST_OK;
}

/* Where nothing was compared: the first row in two precisions. */
static Status put_compare(json_t *json, const ResultInput *files, int n)
{
    static const ResultKind kinds[] = {RESULT_MODEL, RESULT_PROFILE};
    CLEANUP(text_free) Text command = {0};
    for (int i = 0; i < 2 * n && command.n == 0; i++) {
        const RecordSet *rows = &files[i % n].kind[kinds[i / n]];
        if (record_set_size(rows) > 0)
            cell_command(&command, record_set_at(rows, 0), "precision", "fp32,bf16");
    }
    TRY(text_status(&command));
    if (command.n == 0) return ST_OK;
    return json_object_set_new(json, "compare", json_text_string(text_str(&command)))
               ? NO_MEMORY("for advice")
               : ST_OK;
}

Status advice_json(json_t **out, const ResultInput *files, int n)
{
    CLEANUP(free_all) Advice advice = {0};
    TRY(find_all(&advice, files, n));
    CLEANUP(json_text_free)
    json_t *json =
        json_pack("{s:i, s:[], s:[], s:n}", "measured", advice.measured, "wins", "gaps", "compare");
    if (!json) return NO_MEMORY("for advice");
    if (advice.measured < 2) TRY(put_compare(json, files, n));
    for (size_t i = 0; i < advice.faster.n; i++) {
        const FasterChoice *faster = &advice.faster.at[i];
        TRY(add_win(json_object_get(json, "wins"), faster, file_of(files, faster->rows)));
    }
    for (size_t i = 0; i < advice.n_slow; i++)
        TRY(add_gap(json_object_get(json, "gaps"), &advice.slow[i]));
    *out = json_incref(json);
    return ST_OK;
}
