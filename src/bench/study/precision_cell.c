#include "bench/study/precision_cell.h"

#include "base/json_text.h"
#include "bench/cell/cell.h"
#include "bench/measure/rss.h"
#include "bench/record/component_dtypes.h"
#include "bench/study/step_error.h"

#include <math.h>
#include <string.h>

/* ---- dtypes ---- */

static Status put_dtypes(Record *facts, const Config *config, const Placement *placement)
{
    CLEANUP(model_free) Model model = {0};
    CLEANUP(binding_free) Binding binding = {0};
    TRY(placement_plan(placement, config, config->mode, &model, &binding));
    json_t *dtypes = json_object();
    bool failed = json_object_set_new(facts, "dtypes", dtypes) != 0;
    for (int c = 0; c < COMPONENT_COUNT && !failed; c++) {
        failed = json_object_set_new(dtypes, component_dtypes_names[c],
                                     json_string(component_dtypes_of(&model, (Component)c).s));
    }
    if (*model.fp8.left) TRY(record_put_text(facts, "fp8_left", model.fp8.left));
    return failed ? NO_MEMORY("for the errors of a step") : ST_OK;
}

/* ---- errors ---- */

static json_t *range_json(const StepErrorRange *r)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "elements", (json_int_t)r->elements, "subnormal",
                     (json_int_t)r->subnormal, "zero", (json_int_t)r->zero, "nonfinite",
                     (json_int_t)r->nonfinite);
}

/* NULL where nothing was quantized. */
static json_t *operands_json(const StepErrorOperands operands[QUANTIZE_CLASSES])
{
    json_t *classes = json_array();
    for (int i = 0; i < QUANTIZE_CLASSES; i++) {
        const StepErrorOperands *o = &operands[i];
        if (o->elements == 0) continue;
        json_array_append_new(classes, json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "operands",
                                                 quantize_class_name((QuantizeClass)i), "elements",
                                                 (json_int_t)o->elements, "underflow",
                                                 (json_int_t)o->underflow, "saturated",
                                                 (json_int_t)o->saturated, "plain_underflow",
                                                 (json_int_t)o->plain_underflow, "plain_saturated",
                                                 (json_int_t)o->plain_saturated));
    }
    return classes;
}

static json_t *tensor_json(const StepErrorTensor *t)
{
    return json_pack("{s:s, s:o, s:I, s:I, s:I}", "name", t->name, "error",
                     json_text_real(t->error), "elements", (json_int_t)t->elements, "lost",
                     (json_int_t)t->lost, "nonfinite", (json_int_t)t->nonfinite);
}

/* "layers.3" of "layers.3.attn.q_proj"; other names are a part by themselves. */
static size_t part_length(const char *name)
{
    if (strncmp(name, "layers.", 7) != 0) return strlen(name);
    return 7 + strcspn(name + 7, ".");
}

static bool same_part(const char *a, const char *b)
{
    return part_length(a) == part_length(b) && strncmp(a, b, part_length(a)) == 0;
}

/* The parameters of a part follow each other. */
static json_t *parts_json(const StepError *e)
{
    json_t *parts = json_array();
    for (int i = 0; i < e->n_grads;) {
        const char *name = e->grads[i].name;
        StepErrorTensor sum = {0};
        for (; i < e->n_grads && same_part(name, e->grads[i].name); i++) {
            sum.squared_difference += e->grads[i].squared_difference;
            sum.squared_size += e->grads[i].squared_size;
        }
        const double error = sqrt(sum.squared_difference / sum.squared_size);
        json_array_append_new(parts, json_pack("{s:s%, s:o}", "name", name, part_length(name),
                                               "error", json_text_real(error)));
    }
    return parts;
}

static json_t *error_json(const StepError *e, const char *scaling)
{
    json_t *tensors = json_array();
    for (int i = 0; i < e->n_grads; i++) json_array_append_new(tensors, tensor_json(&e->grads[i]));
    return json_pack("{s:s, s:f, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "loss_scaling", scaling,
                     "loss_scale", e->loss_scale, "overflowed", e->overflowed, "loss",
                     json_text_real(e->loss), "logits", json_text_real(e->logits), "gradients",
                     json_text_real(e->gradients), "backward", range_json(&e->backward), "parts",
                     parts_json(e), "tensors", tensors, "operands", operands_json(e->operands));
}

static Status add_error(json_t *errors, const Config *config, const Placement *placement,
                        const ReferenceStep *reference)
{
    CLEANUP(step_error_free) StepError e = {0};
    TRY(step_error_measure(&e, config, placement, reference));
    const bool fp16 = config->precision == PRECISION_FP16;
    const ConfigText scaling =
        config_loss_scale_text(fp16 ? config->loss_scale : CONFIG_SCALE_NONE);
    return json_array_append_new(errors, error_json(&e, scaling.s)) == 0
               ? ST_OK
               : NO_MEMORY("for the errors of a step");
}

/* It runs in the memory of the host, which the limit of a GPU's memory says nothing about. */
static Status run_reference(ReferenceStep *reference, const Config *config,
                            const Placement *placement, CellLink *link)
{
    CLEANUP(json_text_free) Record *facts = json_object();
    Config c = *config;
    if (placement->backend != BACKEND_cpu) c.memory_limit = 0;
    const Status status = reference_step_run(reference, &c, placement->threads);
    if (!reference->too_large) return status;
    TRY(record_put_phase(facts, "reference", RECORD_OOM, status_message()));
    TRY(cell_link_facts(link, facts));
    return status;
}

/* fp16 also without loss scaling, to see what it is good for. */
static Status put_errors(Record *facts, const Config *config, const Placement *placement,
                         CellLink *link)
{
    CLEANUP(reference_step_free) ReferenceStep reference = {0};
    Config unscaled = *config;
    unscaled.loss_scale = CONFIG_SCALE_NONE;
    json_t *errors = json_array();
    if (json_object_set_new(facts, "errors", errors)) return NO_MEMORY("for the errors of a step");
    TRY(run_reference(&reference, config, placement, link));
    TRY(add_error(errors, config, placement, &reference));
    if (config_scales_loss(config)) TRY(add_error(errors, &unscaled, placement, &reference));
    return record_put_number(facts, "reference_seconds", reference.seconds);
}

/* ---- the cell ---- */

/* Looks at what lies between the ops and the casts of their results. */
static Status study(const Config *config, CellLink *link)
{
    CLEANUP(json_text_free) Record *facts = json_object();
    Placement placement;
    Config apart = *config;
    apart.fp8_apart = true;
    TRY(placement_find(config, &placement));
    TRY(put_dtypes(facts, &apart, &placement));
    TRY(cell_link_stage(link, "float64 reference", 0, 0));
    TRY(put_errors(facts, &apart, &placement, link));
    return cell_link_facts(link, facts);
}

/* There is no step to time. */
static Status tell_emulated(CellLink *link)
{
    CLEANUP(json_text_free) Record *facts = json_pack("{s:s}", "emulated", "fp8");
    if (!facts) return NO_MEMORY("for the errors of a step");
    TRY(cell_link_facts(link, facts));
    return cell_link_end(link, RECORD_OK, NULL);
}

Status precision_cell_run(const Config *config, CellLink *link)
{
    Placement placement;
    TRY(study(config, link));
    TRY(placement_find(config, &placement));
    if (placement_check_timed(config, &placement) != ST_OK) return tell_emulated(link);
    /* What the reference held is no part of what a step holds. */
    if (!rss_forget_peak())
        TRY(cell_link_warning(link, "rss_peak_mib and library_mib hold the float64 reference too"));
    return cell_run(config, link);
}
