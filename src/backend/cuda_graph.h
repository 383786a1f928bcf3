/* What a captured graph is rid of before it is instantiated. */
#ifndef BACKEND_CUDA_GRAPH_H
#define BACKEND_CUDA_GRAPH_H

#include "backend/cuda_backend.h"

/* cuBLASLt and cuDNN clear a counter of four bytes before many of their kernels. In a graph each of these clears is
 * a node between two kernels and costs nearly two microseconds. Where the counters lie in slots
 * (cuda_backend_slot), which only their own call uses, the first clear clears them all and the others go. A graph
 * that is not one chain stays as it is. */
Status cuda_graph_join_clears(const Backend *be, cudaGraph_t graph);

#endif
