/* The cell that a record is of: what decides its plan. */
#pragma once

#include "bench/record/record.h"

/* ST_UNSUPPORTED: it is of another program, of attention or a collective alone, or of a model whose
 * configuration file is not bundled. */
Status record_config(const Record *record, Config *config);
/* Of a row of PyTorch in eager mode: the cell of ours whose ops it runs, --exec eager. ST_UNSUPPORTED: it is
 * something else. */
Status record_config_torch(const Record *record, Config *config);
