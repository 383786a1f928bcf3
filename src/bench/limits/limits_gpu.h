/* The measured roof of a GPU. A build without CUDA has none: every function then says so
 * (ST_UNSUPPORTED). */
#pragma once

#include "bench/limits/limits.h"

/* Whose products the model's rows are: those of a medium step with as many tokens. */
#define LIMITS_GPU_MODEL "medium"
enum { LIMITS_GPU_TOKENS = 2048 };

/* `device` is CUDA's number. Each of these opens the device in this process: no fork after it. */
Status limits_gpu_key(int device, LimitsKey *key);
Status limits_gpu_measure(int device, Limits *out);
