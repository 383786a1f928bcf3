/* What a communicator is made of: for comm.c and comm_gpu.c. */
#pragma once

#include "comm/comm.h"
#include "comm/comm_activity.h"
#include "comm/messages.h"
#include "comm/nccl_comm.h"
#include "comm/shared_array.h"
#include "comm/shared_window.h"

struct Comm {
    const MpiEngine *engine;
    MpiPlace place;
    int processors;
    bool shares; /* all ranks share memory */
    SharedWindow window;
    SharedArray *arrays[MPI_ENGINE_WINDOWS]; /* comm_share() */
    int n_arrays;
    Messages messages;
    int *counts, *firsts; /* of every rank's shard, for the library's own calls */
    char version[MPI_ENGINE_TEXT];
    NcclComm *nccl; /* NULL: ranks on CPUs */
    int gpu_ranks;  /* that use this one's GPU */
    bool gpus_shared;
};
