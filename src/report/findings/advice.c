#include "base/human.h"
#include "base/json_text.h"
#include "base/text_groups.h"
#include "bench/record/profile_view.h"
#include "bench/record/record_stat.h"
#include "report/findings/summary.h"
#include "report/records/cell_command.h"
#include "report/records/column.h"
#include "report/records/same_work.h"

#include <math.h>
#include <string.h>

/* ---- another choice for the same step ---- */

typedef struct Faster {
    const char *choice; /* the field in which the two rows differ; NULL: none is faster */
    const RecordSet *rows;
    size_t from, to;
    double saved; /* share of the step */
} Faster;

/* What a row could be changed to without being another model. */
static const char *const choices[] = {"precision", "exec"};

static bool agree(const Record *a, const Record *b, const char *field)
{
    const json_t *x = record_value(a, field), *y = record_value(b, field);
    return x == y || json_equal(x, y);
}

/* A row of ours that was timed: others are no choice. */
static bool step_of(const Record *record, double *ms)
{
    return !record_text(record, "peer") && record_stat_ms(record, "step", ms);
}

/* Groups rows that agree in all but this choice. */
static Status find_alternatives(TextGroups *groups, const RecordSet *rows, const char *choice)
{
    static const char *const also[] = {"measured_mode"};
    const char *const but[] = {choice, "attention", "blas"};
    CLEANUP(text_free) Text text = {0};
    double ms;
    TRY(text_groups_init(groups, record_set_size(rows)));
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *record = record_set_at(rows, i);
        if (!step_of(record, &ms)) continue;
        same_work_put(&text, record, but, sizeof but / sizeof *but);
        same_work_fields(&text, record, also, 1);
        TRY(text_groups_put(groups, i, &text));
    }
    return ST_OK;
}

/* The fastest row of a group that has made another choice than `unlike`, which may be NULL. As many as
 * there are rows: none. */
static size_t find_fastest(const RecordSet *rows, const TextGroups *groups, size_t first,
                           const char *choice, const Record *unlike)
{
    size_t fastest = groups->n;
    double least = INFINITY, ms;
    for (size_t i = first; i < groups->n; i = text_groups_next(groups, i)) {
        const Record *record = record_set_at(rows, i);
        if (!step_of(record, &ms) || ms >= least) continue;
        if (unlike && agree(record, unlike, choice)) continue;
        least = ms;
        fastest = i;
    }
    return fastest;
}

/* fp32 and fused are where one starts: nobody needs to be told to go back there. */
static bool is_start(const Record *record, const char *choice)
{
    const char *value = record_text(record, choice);
    return value && (strcmp(value, "fp32") == 0 || strcmp(value, "fused") == 0);
}

/* Of several that save as much, the first row of the file, and the first that it could be. */
static bool is_better(const Faster *a, const Faster *b)
{
    if (a->saved != b->saved || a->rows != b->rows) return a->saved > b->saved;
    return a->from != b->from ? a->from < b->from : a->to < b->to;
}

static void consider_change(Faster *best, const RecordSet *rows, size_t from, size_t to,
                            const char *choice)
{
    double before = 0, after = 0;
    if (to == record_set_size(rows) || !is_start(record_set_at(rows, from), choice)) return;
    step_of(record_set_at(rows, from), &before);
    step_of(record_set_at(rows, to), &after);
    const Faster found = {choice, rows, from, to, 1 - after / before};
    if (before > 0 && is_better(&found, best)) *best = found;
}

static Status find_faster(Faster *best, const RecordSet *rows, const char *choice)
{
    CLEANUP(text_groups_free) TextGroups groups = {0};
    TRY(find_alternatives(&groups, rows, choice));
    for (size_t first = 0; first < groups.n; first++) {
        if (!text_groups_leads(&groups, first)) continue;
        const size_t fastest = find_fastest(rows, &groups, first, choice, NULL);
        const Record *record = record_set_at(rows, fastest);
        const size_t other = find_fastest(rows, &groups, first, choice, record);
        for (size_t i = first; i < groups.n; i = text_groups_next(&groups, i)) {
            const bool same = agree(record_set_at(rows, i), record, choice);
            consider_change(best, rows, i, same ? other : fastest, choice);
        }
    }
    return ST_OK;
}

static int count_measured(const RecordSet *rows)
{
    int n = 0;
    double ms;
    for (size_t i = 0; i < record_set_size(rows); i++) n += step_of(record_set_at(rows, i), &ms);
    return n;
}

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

static void put_faster(Text *text, const Faster *f)
{
    if (!f->choice) {
        text_puts(text,
                  "Biggest win: none; no other --precision or --exec measured here is faster.");
        return;
    }
    text_printf(text, "Biggest win: --%s %s makes the ", f->choice,
                record_text(record_set_at(f->rows, f->to), f->choice));
    put_cell(text, f->rows, record_set_at(f->rows, f->from));
    text_printf(text, "step %.0f %% shorter.", 100 * f->saved);
}

/* ---- an op far from the limits ---- */

typedef struct Slow {
    const char *op;
    Phase phase;
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
    Faster faster;
    Slow slow;
    Text name; /* work space */
    int measured;
} Advice;

static Status find_all(Advice *a, const ResultInput *files, int n)
{
    *a = (Advice){.faster.saved = 0.01}; /* less is not worth a word */
    for (int f = 0; f < n; f++) {
        for (size_t c = 0; c < sizeof choices / sizeof *choices; c++)
            TRY(find_faster(&a->faster, &files[f].kind[RESULT_MODEL], choices[c]));
        a->measured += count_measured(&files[f].kind[RESULT_MODEL]);
        for (size_t i = 0; i < record_set_size(&files[f].rows); i++)
            TRY(find_slow(&a->slow, &a->name, record_set_at(&files[f].rows, i), false));
    }
    return ST_OK;
}

static bool has_slow(const Advice *a)
{
    return a->slow.op && a->slow.step > 0;
}

Status advice_add(json_t *lines, const ResultInput *files, int n)
{
    Advice advice;
    CLEANUP(text_free) Text text = {0};
    const Status status = find_all(&advice, files, n);
    text_free(&advice.name);
    TRY(status);
    if (advice.measured > 1) put_faster(&text, &advice.faster);
    TRY(json_text_append(lines, &text));
    if (has_slow(&advice)) put_slow(&text, &advice.slow);
    return json_text_append(lines, &text);
}

static Status put_win(json_t *json, const Faster *f)
{
    CLEANUP(text_free) Text cell = {0}, command = {0};
    const Record *from = record_set_at(f->rows, f->from);
    const char *value = record_text(record_set_at(f->rows, f->to), f->choice);
    put_cell(&cell, f->rows, from);
    cell_command(&command, from, f->choice, value);
    TRY(text_status(&cell));
    TRY(text_status(&command));
    json_t *win = json_pack("{s:s, s:s, s:o, s:f, s:s}", "field", f->choice, "value", value, "cell",
                            json_text_string(text_str(&cell)), "shorter_percent", 100 * f->saved,
                            "command", text_str(&command));
    return json_object_set_new(json, "win", win) ? NO_MEMORY("for advice") : ST_OK;
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
    Advice advice;
    const Status status = find_all(&advice, files, n);
    text_free(&advice.name);
    TRY(status);
    CLEANUP(json_text_free)
    json_t *json =
        json_pack("{s:i, s:n, s:n, s:n}", "measured", advice.measured, "win", "gap", "compare");
    if (advice.measured < 2) TRY(put_compare(json, files, n));
    const Slow *slow = &advice.slow;
    if (advice.faster.choice) TRY(put_win(json, &advice.faster));
    if (has_slow(&advice)) {
        json_t *gap = json_pack(
            "{s:s, s:s, s:s?, s:s?, s:f, s:f, s:f}", "op", slow->op, "phase",
            plan_phase_name(slow->phase), "size", record_text(slow->record, "size"), "precision",
            record_text(slow->record, "precision"), "ms", slow->time * 1e-6, "least_ms",
            slow->least * 1e-6, "step_percent", 100 * excess(slow) / slow->step);
        if (json_object_set_new(json, "gap", gap)) return NO_MEMORY("for advice");
    }
    *out = json_incref(json);
    return json ? ST_OK : NO_MEMORY("for advice");
}
