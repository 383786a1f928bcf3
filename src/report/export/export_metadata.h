/* What an export says about itself: the model and how its step was run, as text in the file's header. */
#pragma once

#include "model/model.h"
#include "report/export/safetensors.h"

/* Sizes of the model and of the step, and the seed. The batch is that of the whole step, so that
 * micro-batches and ranks are checked as one. */
Status export_metadata_sizes(Safetensors *file, const Config *config);
Status export_metadata_put(Safetensors *file, const Config *c, const Model *model);
