/* A ModelSpec as the text of a config.json: what a program that builds models from such files is
 * given, so that it runs the model with every override of the command line. */
#pragma once

#include "base/text.h"
#include "config/model_spec.h"

/* On one line. The spec is not the project's own model, which has no such file. */
Status model_json_write(const ModelSpec *spec, Text *text);
