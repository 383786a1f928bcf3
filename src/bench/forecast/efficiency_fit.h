/* Efficiencies of a device from profiles that were measured there. */
#pragma once

#include "bench/forecast/efficiency.h"
#include "bench/record/record_set.h"

/* From every profile among the rows, with the measured limits of their device. ST_USAGE: there is none, or
 * one is of another device than the limits. */
Status efficiency_fit(Efficiency *e, const RecordSet *rows, const Limits *limits);
