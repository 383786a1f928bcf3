/* One layer of a trace, forward and backward: what the host and the device did, and the gaps
 * between. */
#pragma once

#include "base/status.h"

#include <jansson.h>

/* Of a trace in Kineto's layout a new reference to
 *
 *   {layer: "layer.2", phases: [{phase, begin_us, end_us,
 *                                tracks: [{name: "host", events: [[name, scope, begin_us, us], ...]},
 *                                         ...]}, ...]}
 *
 * for the layer in the middle and one step, times from the step's begin; NULL where no event belongs to a
 * layer. Events are in the order of their begin. */
Status layer_timeline_make(json_t **out, const json_t *trace);
