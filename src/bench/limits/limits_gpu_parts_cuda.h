/* The parts of a GPU's limits, each with one open device. */
#pragma once

#include "backend/cuda_backend.h"
#include "bench/limits/limits.h"

/* READ, WRITE and COPY over arrays that no cache holds: 64 times the last-level cache and at least
 * 1 GiB where a quarter of the free memory is that much. */
Status limits_gpu_memory(Backend *be, Limits *out);

/* TO_DEVICE and TO_HOST, from pinned and from ordinary memory, by the host's clock. */
Status limits_gpu_transfer(Backend *be, Limits *out);

/* LAUNCH_LATENCY, LAUNCHES and GRAPH_LAUNCHES, of a kernel that does nothing. */
Status limits_gpu_launch(Backend *be, Limits *out);
