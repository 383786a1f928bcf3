#include "base/json_text.h"
#include "cli/other_machine.h"
#include "cli/plan/forecast_table.h"
#include "cli/plan/plan_output.h"
#include "cli/plan/planned_config.h"
#include "report/format/csv_writer.h"

#include <ctype.h>
#include <stdio.h>

/* ---- one cell ---- */

static Status put_phase(json_t *json, const char *name, const PhaseCost *cost)
{
    json_t *phase = json_object();
    if (json_object_set_new(json, name, phase)) return NO_MEMORY("for a plan");
    TRY(record_put_int(phase, "nodes", cost->nodes));
    TRY(record_put_number(phase, "flops", cost->flops));
    TRY(record_put_number(phase, "bytes", cost->bytes));
    return record_put_number(phase, "flops_per_byte", step_cost_intensity(cost));
}

static Status put_cost(json_t *json, const PlanCell *cell)
{
    TRY(record_put_int(json, "parameters", cell->parameters));
    if (cell->active_parameters < cell->parameters)
        TRY(record_put_int(json, "active_parameters", cell->active_parameters));
    TRY(record_put_number(json, "flops_per_step", cell->cost.step.matmul_flops));
    TRY(record_put_number(json, "recompute_flops", cell->cost.step.recomputed_flops));
    TRY(record_put_number(json, "least_step_ms", cell->roof_seconds * 1e3));
    if (cell->config->ranks > 1)
        TRY(record_put_number(json, "wire_mib", cell->cost.step.wire / (1024.0 * 1024.0)));
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        TRY(put_phase(json, plan_phase_name((Phase)p), &cell->cost.phase[p]));
    }
    return put_phase(json, "step", &cell->cost.step);
}

/* In the order of a step; a list, since their names are for people. */
static Status put_parts(json_t *json, const PlanCell *cell)
{
    json_t *list = json_array();
    if (!list || json_object_set_new(json, "parts", list)) return NO_MEMORY("for a plan");
    for (int p = 0; p < PLAN_PART_COUNT; p++) {
        const PhaseCost *phases = cell->parts.phase[p], *step = &cell->parts.step[p];
        json_t *part = json_object();
        if (json_array_append_new(list, part)) return NO_MEMORY("for a plan");
        TRY(record_put_text(part, "part", plan_parts_name((PlanPart)p)));
        TRY(record_put_number(part, "forward_flops", phases[PHASE_FORWARD].flops));
        TRY(record_put_number(part, "backward_flops", phases[PHASE_BACKWARD].flops));
        TRY(record_put_number(part, "flops", step->flops));
        TRY(record_put_number(part, "bytes", step->bytes));
    }
    return ST_OK;
}

static Status put_memory(json_t *json, const PlanCell *cell)
{
    const PlanMemory *m = &cell->memory;
    for (int k = 0; k < TK_COUNT; k++) {
        char path[64];
        snprintf(path, sizeof path, "memory.%s_mib", plan_kind_name((TensorKind)k));
        /* "Adam m and v" -> "adam_m_and_v" */
        for (char *c = path; *c; c++) *c = *c == ' ' || *c == '-' ? '_' : (char)tolower(*c);
        TRY(planned_config_put_mib(json, path, m->kind[k]));
    }
    TRY(planned_config_put_mib(json, "peak_alloc_mib", m->peak_live));
    TRY(record_put_text(json, "peak_phase", plan_phase_name(m->peak_phase)));
    TRY(record_put_text(json, "peak_scope", m->peak_scope));
    TRY(planned_config_put_mib(json, "planned_peak_mib", m->planned));
    return planned_config_put_mib(json, "needed_mib", m->need[cell->config->mode]);
}

/* What is kept from forward to backward, beside the same step in bf16. */
static Status put_fp8_memory(json_t *json, const PlanCell *cell)
{
    const Fp8Kept *bf16 = &cell->fp8_memory.bf16, *fp8 = &cell->fp8_memory.fp8;
    if (!cell->fp8_memory.known) return ST_OK;
    TRY(planned_config_put_mib(json, "kept.activations_mib", fp8->activations));
    TRY(planned_config_put_mib(json, "kept.weights_mib", fp8->weights));
    TRY(planned_config_put_mib(json, "kept.bf16_activations_mib", bf16->activations));
    return planned_config_put_mib(json, "kept.bf16_planned_peak_mib", bf16->planned);
}

/* What recomputation would allow, and what to change where it does not fit. */
static Status put_more(json_t *json, const PlanCell *cell, int k)
{
    const FitLimit *fit = &cell->recomputed[k];
    if (cell->with_recomputed) {
        TRY(record_put_int(json, "recompute_largest_batch", fit->most_batch));
        TRY(record_put_int(json, "recompute_largest_ctx", fit->most_ctx));
    }
    if (cell->fits[k].fits) return record_put_null(json, "fits_with");
    return record_put_text(json, "fits_with", cell->advice[k].s);
}

static Status put_fit(json_t *json, const PlanCell *cell, int k)
{
    const FitLimit *fit = &cell->fits[k];
    TRY(planned_config_put_mib(json, "limit_mib", fit->limit));
    if (json_object_set_new(json, "fits", json_boolean(fit->fits))) return NO_MEMORY("for a plan");
    TRY(planned_config_put_mib(json, "needs_mib", fit->need));
    TRY(record_put_int(json, "recomputed_blocks", fit->recomputed_blocks));
    TRY(planned_config_put_mib(json, "short_by_mib", fit->short_by));
    TRY(fit->any ? record_put_text(json, "largest_mode", config_modes[fit->mode])
                 : record_put_null(json, "largest_mode"));
    TRY(record_put_int(json, "largest_batch", fit->most_batch));
    TRY(record_put_int(json, "largest_ctx", fit->most_ctx));
    return put_more(json, cell, k);
}

static Status put_fits(json_t *json, const PlanCell *cell)
{
    json_t *list = json_array();
    if (!list || json_object_set_new(json, "fits", list)) return NO_MEMORY("for a plan");
    for (int i = 0; i < cell->n_fits; i++) {
        json_t *fit = json_object();
        if (!fit || json_array_append_new(list, fit)) return NO_MEMORY("for a plan");
        TRY(put_fit(fit, cell, i));
    }
    return ST_OK;
}

static Status put_cell(json_t *json, const PlanCell *cell, const Limits *machine)
{
    TRY(planned_config_json(json, cell->config, &cell->placement, cell->attention,
                            cell->unsupported ? cell->message : NULL));
    if (cell->unsupported) return ST_OK;
    TRY(other_machine_json(json, &cell->placement, machine));
    TRY(put_cost(json, cell));
    TRY(forecast_table_json(json, cell));
    TRY(put_parts(json, cell));
    TRY(put_memory(json, cell));
    TRY(put_fp8_memory(json, cell));
    TRY(planned_config_head_json(json, &cell->head));
    if (*cell->fp8_left) TRY(record_put_text(json, "fp8_left", cell->fp8_left));
    return put_fits(json, cell);
}

/* An array of all cells, which the caller frees, after a failure too. */
static Status cells_to_json(const PlanCell *cells, int n, const Limits *machine, json_t **out)
{
    *out = json_array();
    for (int i = 0; i < n; i++) {
        json_t *json = json_object();
        if (json_array_append_new(*out, json)) return NO_MEMORY("for a plan");
        TRY(put_cell(json, &cells[i], machine));
    }
    return *out ? ST_OK : NO_MEMORY("for a plan");
}

Status plan_json_write(Text *out, const PlanCell *cells, int n, const Limits *machine)
{
    CLEANUP(json_text_free) json_t *list = NULL, *root = NULL;
    TRY(cells_to_json(cells, n, machine, &list));
    root = json_pack("{s:i, s:O}", "schema", 1, "plans", list);
    json_text_put(out, root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    text_puts(out, "\n");
    return text_status(out);
}

/* ---- CSV ---- */

/* Members of nested objects become members of `flat`: "forward_flops". Lists are left out. */
static int flatten(json_t *flat, const char *prefix, json_t *object)
{
    const char *key;
    json_t *value;
    int failed = 0;
    json_object_foreach(object, key, value)
    {
        char name[128];
        snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "_" : "", key);
        if (json_is_object(value))
            failed |= flatten(flat, name, value);
        else if (!json_is_array(value))
            failed |= json_object_set(flat, name, value);
    }
    return failed;
}

/* One flat object per cell and limit; one for a cell that has none. */
static int flat_rows(json_t *rows, json_t *cell)
{
    const json_t *fits = json_object_get(cell, "fits");
    const size_t n = json_array_size(fits) ? json_array_size(fits) : 1;
    int failed = 0;
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_object();
        failed |= json_array_append_new(rows, row);
        failed |= flatten(row, "", cell);
        if (json_array_get(fits, i)) failed |= flatten(row, "", json_array_get(fits, i));
    }
    return failed;
}

/* `row` NULL: the names of the columns. */
static void put_row(Text *out, const json_t *row, json_t *columns)
{
    const char *name, *comma = "";
    json_t *unused;
    json_object_foreach(columns, name, unused)
    {
        text_puts(out, comma);
        if (row)
            csv_writer_value(out, json_object_get(row, name));
        else
            text_puts(out, name);
        comma = ",";
    }
    text_puts(out, "\n");
}

static Status write_csv(Text *out, json_t *cells, json_t *rows, json_t *columns)
{
    size_t i;
    json_t *item;
    int failed = !rows || !columns;
    json_array_foreach(cells, i, item) failed |= flat_rows(rows, item);
    json_array_foreach(rows, i, item) failed |= json_object_update_missing(columns, item);
    if (failed) return NO_MEMORY("for a plan");
    put_row(out, NULL, columns);
    json_array_foreach(rows, i, item) put_row(out, item, columns);
    return text_status(out);
}

Status plan_json_csv(Text *out, const PlanCell *cells, int n, const Limits *machine)
{
    CLEANUP(json_text_free) json_t *list = NULL, *rows = json_array(), *columns = json_object();
    TRY(cells_to_json(cells, n, machine, &list));
    return write_csv(out, list, rows, columns);
}
