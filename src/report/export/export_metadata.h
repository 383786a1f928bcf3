/* What an export says about itself: the model and how its step was run, as text in the file's header. */
#pragma once

#include "model/model.h"
#include "report/export/safetensors.h"

Status export_metadata_put(Safetensors *file, const Config *c, const Model *model);
