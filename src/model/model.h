/* config -> plan: the whole training step of the Transformer as data. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "config/config.h"
#include "plan/plan.h"

typedef enum ParamInit { INIT_ONES, INIT_NORMAL } ParamInit;

/* One parameter under the name it has outside ("layers.0.attn.q_proj"), weights [out, in]. */
typedef struct Param {
    char name[64];
    int tensor; /* a view into its group's memory; fp32 */
    int grad;   /* PLAN_NONE in mode fwd */
    ParamInit init;
    double std;
} Param;

typedef struct Model {
    Config config;
    Plan plan;
    Param *params;
    int n_params;
    int64_t n_elements; /* of all parameters */
    int tokens, targets; /* [B, T] int32 */
    int rope_cos, rope_sin;
    int logits, loss;
    int state; /* plan/step_state.h; PLAN_NONE in mode fwd */
} Model;

Status model_build(Model *model, const Config *config, Mode mode);
void model_free(Model *model);

/* Of one step without recomputation: the numerator of MFU. */
double model_flops(const Model *model);

#endif
