/* A configuration as a plan that a backend can run. */
#pragma once

#include "exec/binding.h"
#include "model/model.h"

/* What cuDNN's fused attention runs on. */
enum { STEP_PLAN_CUDNN_CAPABILITY = 80 };

/* Builds the model and binds it. `--attention auto` takes the first implementation of the backend's
 * list that takes this model and runs on a GPU of this capability (BackendApi.capability; 0: any).
 * `model` must stay where it is while `binding` lives. */
Status step_plan_make(Model *model, Binding *binding, const Config *config, Mode mode,
                      BackendId backend, int capability, int threads);
