#include "report/findings/advice.h"

#include "base/human.h"
#include "base/json_text.h"
#include "base/text_groups.h"
#include "bench/record/profile_view.h"
#include "bench/record/record_stat.h"
#include "report/records/column.h"
#include "report/records/same_work.h"

#include <math.h>
#include <string.h>

static Status add_line(json_t *lines, Text *text)
{
    const Status status = json_text_append(lines, text);
    text_free(text);
    return status;
}

/* ---- another choice for the same step ---- */

typedef struct Faster {
    const char *choice; /* the field in which the two rows differ; NULL: none is faster */
    const RecordSet *rows;
    size_t from, to;
    double saved; /* share of the step */
} Faster;

/* What a row could be changed to without being another model. */
static const char *const choices[] = {"precision", "exec"};
static const char *const other_work[] = {"precision", "exec", "attention", "blas"};
static const char *const also[] = {"measured_mode"};

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

/* Rows that agree in all but this choice. */
static Status find_alternatives(TextGroups *groups, const RecordSet *rows, const char *choice)
{
    CLEANUP(text_free) Text text = {0};
    double ms;
    Status status = text_groups_init(groups, record_set_size(rows));
    for (size_t i = 0; status == ST_OK && i < record_set_size(rows); i++) {
        const Record *record = record_set_at(rows, i);
        if (!step_of(record, &ms)) continue;
        text_clear(&text);
        same_work_put(&text, record, other_work, sizeof other_work / sizeof *other_work);
        same_work_fields(&text, record, also, 1);
        for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) {
            if (strcmp(choices[c], choice) != 0) same_work_fields(&text, record, &choices[c], 1);
        }
        status = text_status(&text);
        if (status == ST_OK) status = text_groups_put(groups, i, text_str(&text));
    }
    return status;
}

/* The fastest row, and the fastest of those that have made another choice. */
typedef struct Fastest {
    size_t row[2]; /* as many as there are rows: none */
    double ms[2];
} Fastest;

static void take(Fastest *fastest, int place, size_t row, double ms)
{
    fastest->row[place] = row;
    fastest->ms[place] = ms;
}

static Fastest find_fastest(const RecordSet *rows, const TextGroups *groups, size_t first,
                            const char *choice)
{
    Fastest f = {.row = {groups->n, groups->n}};
    for (size_t i = first; i < groups->n; i = text_groups_next(groups, i)) {
        double ms = 0;
        const Record *record = record_set_at(rows, i);
        step_of(record, &ms);
        const bool other =
            f.row[0] < groups->n && !agree(record, record_set_at(rows, f.row[0]), choice);
        if (f.row[0] == groups->n || ms < f.ms[0]) {
            if (other) take(&f, 1, f.row[0], f.ms[0]);
            take(&f, 0, i, ms);
        } else if (other && (f.row[1] == groups->n || ms < f.ms[1])) {
            take(&f, 1, i, ms);
        }
    }
    return f;
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

static void consider_change(Faster *best, const RecordSet *rows, const Fastest *f, size_t from,
                            const char *choice)
{
    double before = 0;
    const Record *record = record_set_at(rows, from);
    if (!is_start(record, choice) || !step_of(record, &before) || !(before > 0)) return;
    const int place = agree(record, record_set_at(rows, f->row[0]), choice);
    if (f->row[place] == record_set_size(rows)) return;
    const Faster found = {choice, rows, from, f->row[place], 1 - f->ms[place] / before};
    if (is_better(&found, best)) *best = found;
}

static Status find_faster(Faster *best, const RecordSet *rows, const char *choice)
{
    TextGroups groups;
    Status status = find_alternatives(&groups, rows, choice);
    for (size_t first = 0; status == ST_OK && first < groups.n; first++) {
        if (!text_groups_leads(&groups, first)) continue;
        const Fastest fastest = find_fastest(rows, &groups, first, choice);
        for (size_t i = first; i < groups.n; i = text_groups_next(&groups, i))
            consider_change(best, rows, &fastest, i, choice);
    }
    text_groups_free(&groups);
    return status;
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
    bool shown[TABLE_MAX_COLUMNS] = {0};
    char value[COLUMN_TEXT];
    result_input_distinct(shown, rows);
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        if (!shown[c] || !column_text(column, record, value)) continue;
        if (column->kind != COLUMN_WORD) text_printf(out, "%s ", column->label);
        text_printf(out, "%s ", value);
    }
}

static Status tell_faster(json_t *lines, const Faster *f)
{
    Text text = {0};
    if (!f->choice) {
        text_puts(&text,
                  "Biggest win: none; no other --precision or --exec measured here is faster.");
        return add_line(lines, &text);
    }
    text_printf(&text, "Biggest win: --%s %s makes the ", f->choice,
                record_text(record_set_at(f->rows, f->to), f->choice));
    put_cell(&text, f->rows, record_set_at(f->rows, f->from));
    text_printf(&text, "step %.0f %% shorter.", 100 * f->saved);
    return add_line(lines, &text);
}

/* ---- an op far from the limits ---- */

typedef struct Slow {
    const char *op;
    Phase phase;
    double time, least; /* ns of one step */
    double step;        /* ns of the whole of it */
} Slow;

/* At the limits; NAN where they are not known. */
static double least_time(const ProfileView *view, const ViewOp *op)
{
    return 1e9 * fmax(op->flops / view->limit_flops, op->bytes / view->limit_bandwidth);
}

static double excess(const Slow *slow)
{
    return slow->op ? slow->time - slow->least : 0;
}

/* Rows of one op in one phase, whichever layer they belong to. */
static Status find_ops(TextGroups *ops, const ProfileView *view)
{
    CLEANUP(text_free) Text name = {0};
    Status status = text_groups_init(ops, (size_t)view->n_ops);
    for (size_t i = 0; status == ST_OK && i < ops->n; i++) {
        text_clear(&name);
        text_printf(&name, "%d %s", (int)view->ops[i].phase, view->ops[i].op);
        status = text_status(&name);
        if (status == ST_OK) status = text_groups_put(ops, i, text_str(&name));
    }
    return status;
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

static Status find_slow(Slow *best, const ProfileView *view)
{
    TextGroups ops;
    const Status status = find_ops(&ops, view);
    for (size_t i = 0; status == ST_OK && i < ops.n; i++) {
        if (!text_groups_leads(&ops, i)) continue;
        const Slow slow = sum_op(view, &ops, i);
        if (isfinite(slow.least) && excess(&slow) > excess(best)) *best = slow;
    }
    text_groups_free(&ops);
    return status;
}

static Status look_at_profile(Slow *best, const Record *record)
{
    ProfileView view;
    if (!json_is_object(record_value(record, "profile"))) return ST_OK;
    TRY(profile_view_make(&view, record));
    const Status status = find_slow(best, &view);
    /* its text is the record's */
    profile_view_free(&view);
    return status;
}

static Status tell_slow(json_t *lines, const Slow *slow)
{
    Text text = {0};
    text_printf(
        &text,
        "Most to gain from faster code: %s in %s takes %s of a profiled step, at the limits %s: "
        "%.0f %% of the step.",
        slow->op, plan_phase_name(slow->phase), human_seconds(slow->time * 1e-9).s,
        human_seconds(slow->least * 1e-9).s, 100 * excess(slow) / slow->step);
    return add_line(lines, &text);
}

Status advice_add(json_t *lines, const ResultInput *files, int n)
{
    Faster faster = {.saved = 0.01}; /* less is not worth a word */
    Slow slow = {0};
    int measured = 0;
    for (int f = 0; f < n; f++) {
        for (size_t c = 0; c < sizeof choices / sizeof *choices; c++)
            TRY(find_faster(&faster, &files[f].kind[RESULT_MODEL], choices[c]));
        measured += count_measured(&files[f].kind[RESULT_MODEL]);
        for (size_t i = 0; i < record_set_size(&files[f].rows); i++)
            TRY(look_at_profile(&slow, record_set_at(&files[f].rows, i)));
    }
    if (measured > 1) TRY(tell_faster(lines, &faster));
    return slow.op && slow.step > 0 ? tell_slow(lines, &slow) : ST_OK;
}
