/* What a host takes to submit an op, from steps that were measured with --exec eager or fused, or in
 * PyTorch's eager mode: the time of each phase is told by its ops on the device and one number, and that is
 * fitted. */
#pragma once

#include "bench/forecast/efficiency.h"
#include "bench/record/record_set.h"

/* Adds a host for every program and --exec among the rows of GPUs; the others are left alone. `limits` are of
 * the device that the rows ran on. */
Status host_fit(Efficiency *e, const RecordSet *rows, const Limits *limits);
