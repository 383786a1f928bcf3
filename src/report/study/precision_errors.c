#include "report/study/precision_errors.h"

#include "base/human.h"

#include <stdio.h>
#include <string.h>

/* ---- the runs of all rows ---- */

PrecisionName precision_errors_name(const Record *row)
{
    PrecisionName name;
    const char *recipe = record_text(row, "fp8_recipe");
    snprintf(name.s, sizeof name.s, "%.8s%s%.16s", record_text(row, "precision"), recipe ? " " : "",
             recipe ? recipe : "");
    return name;
}

bool precision_errors_next(const RecordSet *rows, PrecisionErrorsRun *run)
{
    for (; run->next_row < record_set_size(rows); run->next_row++, run->next_error = 0) {
        run->row = record_set_at(rows, run->next_row);
        const json_t *errors = record_value(run->row, "errors");
        if (run->next_error >= json_array_size(errors)) continue;
        run->error = json_array_get(errors, run->next_error++);
        const bool several = json_array_size(errors) > 1;
        snprintf(run->label, sizeof run->label, "%s%s%s", precision_errors_name(run->row).s,
                 several ? ", scaling " : "",
                 several ? record_text(run->error, "loss_scaling") : "");
        return true;
    }
    return false;
}

int64_t precision_errors_count(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

void precision_errors_note_left(Table *table, const Record *row)
{
    const char *left = record_text(row, "fp8_left");
    if (left)
        table_note_printf(
            table, "%s: %s stay in bf16: fp8 takes sizes that are multiples of 16, and no experts",
            precision_errors_name(row).s, left);
}

/* ---- errors ---- */

void precision_errors_cell(Table *table, const json_t *x)
{
    if (json_is_number(x))
        table_cell_printf(table, "%.2e", json_number_value(x));
    else
        table_cell(table, "not finite");
}

/* The error of the gradients of a part ("layers.0"); NULL if it has none. */
static const json_t *part_error(const json_t *error, const char *name)
{
    const json_t *parts = json_object_get(error, "parts");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        const char *other = json_string_value(json_object_get(part, "name"));
        if (other && strcmp(other, name) == 0) return json_object_get(part, "error");
    }
    return NULL;
}

/* One column for each precision and way to scale its loss. */
static void error_cells(Table *table, const RecordSet *rows, const char *field, const char *part)
{
    PrecisionErrorsRun run = {0};
    while (precision_errors_next(rows, &run))
        precision_errors_cell(table, part ? part_error(run.error, part)
                                          : json_object_get(run.error, field));
}

const char *const precision_errors_whole[PRECISION_WHOLE] = {"loss", "logits", "gradients"};

static void note_chunks(Table *table, const RecordSet *rows)
{
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const int64_t chunks = precision_errors_count(record_set_at(rows, i), "logits_chunks");
        if (chunks < 2) continue;
        table_note_printf(table,
                          "head and loss ran in %lld chunks of rows: the gradient of the head's "
                          "weight is rounded once for each",
                          (long long)chunks);
        return;
    }
}

void precision_errors_table(Table *table, const RecordSet *rows)
{
    PrecisionErrorsRun run = {0};
    table->title = "Errors against float64";
    table_column(table, "relative error of", "", false);
    while (precision_errors_next(rows, &run)) table_column(table, run.label, "", true);
    run = (PrecisionErrorsRun){0};
    if (!precision_errors_next(rows, &run)) return;
    for (size_t i = 0; i < PRECISION_WHOLE; i++) {
        table_cell(table, strcmp(precision_errors_whole[i], "gradients") == 0
                              ? "all gradients"
                              : precision_errors_whole[i]);
        error_cells(table, rows, precision_errors_whole[i], NULL);
    }
    const json_t *parts = json_object_get(run.error, "parts");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(parts, i), "name"));
        table_cell_printf(table, "gradients of %s", name);
        error_cells(table, rows, NULL, name);
    }
    table_note(
        table,
        "relative error = norm of the difference / norm, against the same forward and backward "
        "pass in float64 on the CPU; csv and json have every tensor");
    note_chunks(table, rows);
}

/* ---- both ends of the range ---- */

static void share_cell(Table *table, int64_t n, int64_t of)
{
    const double percent = of > 0 ? 100 * (double)n / (double)of : 0;
    if (n == 0)
        table_cell(table, "0");
    else
        table_cell_printf(table, percent < 10 ? "%s (%.2g %%)" : "%s (%.0f %%)", human_count(n).s,
                          percent);
}

static void range_row(Table *table, const PrecisionErrorsRun *run)
{
    static const char *const names[] = {"zero", "subnormal", "nonfinite"};
    const json_t *tensors = json_object_get(run->error, "tensors");
    const json_t *all = json_object_get(run->error, "backward");
    int64_t elements = 0, lost = 0, nonfinite = 0; /* of all parameters' gradients */
    for (size_t i = 0; i < json_array_size(tensors); i++) {
        const json_t *tensor = json_array_get(tensors, i);
        elements += precision_errors_count(tensor, "elements");
        lost += precision_errors_count(tensor, "lost");
        nonfinite += precision_errors_count(tensor, "nonfinite");
    }
    table_cell(table, run->label);
    table_cell_printf(table, "%g", json_number_value(json_object_get(run->error, "loss_scale")));
    table_cell_printf(table, "%lld", (long long)precision_errors_count(run->error, "overflowed"));
    share_cell(table, lost, elements);
    share_cell(table, nonfinite, elements);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        share_cell(table, precision_errors_count(all, names[i]),
                   precision_errors_count(all, "elements"));
}

void precision_errors_range(Table *table, const RecordSet *rows)
{
    PrecisionErrorsRun run = {0};
    table->title = "Gradients under loss scaling";
    TABLE_COLUMNS(table, 1, "gradients in", "loss scale", "attempts that overflowed",
                  "underflow to 0", "overflow", "backward: zero", "backward: subnormal",
                  "backward: not finite");
    TABLE_SPARE(table, "attempts that overflowed", "overflow");
    while (precision_errors_next(rows, &run)) {
        if (precision_errors_count(json_object_get(run.error, "backward"), "elements") > 0)
            range_row(table, &run);
    }
    table_note(
        table,
        "underflow: elements of parameter gradients that are 0 but not 0 in float64; backward: "
        "all 16-bit gradients that are written, of activations too");
}

/* ---- 8-bit operands ---- */

static void operand_rows(Table *table, const PrecisionErrorsRun *run)
{
    static const char *const names[] = {"underflow", "saturated", "plain_underflow",
                                        "plain_saturated"};
    const json_t *classes = json_object_get(run->error, "operands");
    for (size_t i = 0; i < json_array_size(classes); i++) {
        const json_t *class = json_array_get(classes, i);
        table_cell(table, run->label);
        table_cell(table, record_text(class, "operands"));
        table_cell(table, human_count(precision_errors_count(class, "elements")).s);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            share_cell(table, precision_errors_count(class, names[k]),
                       precision_errors_count(class, "elements"));
    }
}

void precision_errors_operands(Table *table, const RecordSet *rows)
{
    PrecisionErrorsRun run = {0};
    table->title = "What 8 bits do to operands";
    TABLE_COLUMNS(table, 2, "8-bit operands in", "of", "not 0", "underflow to 0", "clipped",
                  "without scales: underflow", "without scales: clipped");
    while (precision_errors_next(rows, &run)) operand_rows(table, &run);
    table_note(table, "of the products of every block, each tensor once; clipped: beyond the "
                      "largest number, which only scales of earlier steps allow");
}
