/* A step with recomputation beside the same one without: gradients and updates, to the bit. */
#pragma once

#include "step_harness.h"

static inline void recompute_same_bits(const Step *a, int x, const Step *b, int y, const char *what,
                                       const char *name)
{
    for (int64_t i = 0; i < plan_elements(&a->model.plan.tensors[x]); i++) {
        if (harness_get(&a->run, x, i) == harness_get(&b->run, y, i)) continue;
        fail_msg("%s: %s[%lld] is %.9g and not %.9g", what, name, (long long)i,
                 harness_get(&a->run, x, i), harness_get(&b->run, y, i));
    }
}

static inline void recompute_check_bits(const Config *config, BackendId backend)
{
    Config c = *config;
    char what[96];
    Step plain, again;
    snprintf(what, sizeof what, "%s %s %s recompute %s", config_precisions[c.precision],
             config_execs[c.exec], config_attentions[c.attention],
             config_recompute_text(c.recompute).s);
    open_step_on(&again, &c, MODE_TRAIN, DT_F32, backend, 2);
    c.recompute = CONFIG_RECOMPUTE_NONE;
    open_step_on(&plain, &c, MODE_TRAIN, DT_F32, backend, 2);
    forward_backward(&plain);
    forward_backward(&again);
    for (int p = 0; p < plain.model.n_params; p++) {
        recompute_same_bits(&again, again.model.params[p].grad, &plain, plain.model.params[p].grad,
                            what, plain.model.params[p].name);
    }
    run_steps(&plain, 2);
    run_steps(&again, 2);
    for (int p = 0; p < plain.model.n_params; p++) {
        recompute_same_bits(&again, again.model.params[p].tensor, &plain,
                            plain.model.params[p].tensor, what, plain.model.params[p].name);
    }
    close_step(&again);
    close_step(&plain);
}
