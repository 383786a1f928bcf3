#include "bench/record/record.h"
#include "report/validate/validate.h"
#include "report/validate/validate_check.h"

#include <math.h>
#include <stdio.h>

static Status check_phases(const json_t *plan, const char *figure)
{
    static const char *const phases[] = {"forward", "backward", "optimizer"};
    char path[64];
    double sum = 0, one, step;
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s.%s", phases[i], figure);
        if (!record_number(plan, path, &one)) return FAIL(ST_FAILED, "%s is missing", path);
        sum += one;
    }
    snprintf(path, sizeof path, "step.%s", figure);
    if (!record_number(plan, path, &step)) return FAIL(ST_FAILED, "%s is missing", path);
    if (validate_check_equal(sum, step)) return ST_OK;
    return FAIL(ST_FAILED, "%s of the phases add up to %.6g, not to the %.6g of the step", figure,
                sum, step);
}

static Status check_memory(const json_t *plan)
{
    double live, planned, needed;
    TRY(validate_check_mib(plan, "memory", "peak_alloc_mib"));
    if (!record_number(plan, "peak_alloc_mib", &live) ||
        !record_number(plan, "planned_peak_mib", &planned) ||
        !record_number(plan, "needed_mib", &needed))
        return FAIL(ST_FAILED, "planned_peak_mib or needed_mib is missing");
    if (live <= planned && planned <= needed) return ST_OK;
    return FAIL(ST_FAILED,
                "peak_alloc_mib, planned_peak_mib and needed_mib do not rise: %.6g, %.6g, %.6g",
                live, planned, needed);
}

static Status check_fit(const json_t *fit)
{
    double limit, needs, lacks;
    const json_t *fits = json_object_get(fit, "fits");
    if (!record_number(fit, "limit_mib", &limit) || !record_number(fit, "needs_mib", &needs) ||
        !record_number(fit, "short_by_mib", &lacks) || !json_is_boolean(fits))
        return FAIL(ST_FAILED, "what fits: limit_mib, needs_mib, short_by_mib or fits is missing");
    if (json_is_true(fits) == (needs <= limit) &&
        validate_check_equal(lacks, fmax(0, needs - limit)))
        return ST_OK;
    return FAIL(ST_FAILED, "what fits: %.6g MiB in %.6g is not short by %.6g", needs, limit, lacks);
}

static Status check_plan(const json_t *plan)
{
    size_t i;
    json_t *fit;
    if (record_status(plan) == RECORD_UNSUPPORTED) return ST_OK;
    if (record_status(plan) != RECORD_OK) return FAIL(ST_FAILED, "its status is not known");
    TRY(check_phases(plan, "nodes"));
    TRY(check_phases(plan, "flops"));
    TRY(check_phases(plan, "bytes"));
    TRY(check_memory(plan));
    json_array_foreach(json_object_get(plan, "fits"), i, fit) TRY(check_fit(fit));
    return ST_OK;
}

Status validate_plan(const json_t *json, ValidateNote *note)
{
    const json_t *plans = json_object_get(json, "plans");
    TRY(validate_check_each(plans, "plan", check_plan));
    snprintf(note->s, sizeof note->s, "plans, %zu cells", json_array_size(plans));
    return ST_OK;
}
