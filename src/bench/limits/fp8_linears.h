/* `--fp8-layers auto`: which linear layers are faster in fp8 on this GPU, what quantizing costs them
 * included. */
#pragma once

#include "backend/backend.h"
#include "config/config.h"

/* `settled` is the config with the set of layers in place of `auto`, which is measured: each layer's nodes in
 * bf16 and in fp8, alone. A process measures a cell once. `device` is below 0 where there is none to ask:
 * ST_UNSUPPORTED. */
Status fp8_linears_settle(const Config *config, BackendId backend, int device, int threads,
                          Config *settled);
