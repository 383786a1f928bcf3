/* Opens MPI, and roofstep_mpi.so, our shared object that calls it (comm/mpi_engine.h). It lies
 * beside the program, or in lib/roofstep beside its bin/. */
#pragma once

#include "base/status.h"
#include "comm/mpi_engine.h"

/* Opened once; it stays open. ST_UNSUPPORTED says what to install. */
Status comm_library(const MpiEngine **out);
