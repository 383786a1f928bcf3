/* Collectives on memory of GPUs: NCCL, which is loaded when ranks on GPUs are asked for. MPI has started the
 * ranks and carries what NCCL needs to find them.
 *
 * Calls are queued on the stream that the backend's work goes to, and may be captured. All ranks make
 * the same calls with the same sizes in the same order; the bits are the same run after run. Those of an
 * element depend on its place in the array: of three and more ranks NCCL adds in another order there. */
#pragma once

#include "backend/backend.h"
#include "comm/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NCCL_COMM_TEXT = 256 };

typedef struct NcclComm NcclComm;

/* On this device, which this process opens with it. `shared`: several ranks use one GPU; NCCL then takes each
 * of them for a machine of its own. ST_UNSUPPORTED says what to install. */
Status nccl_comm_open(NcclComm **out, Comm *comm, int device, bool shared);
/* When all graphs that captured a call are dropped, or it waits for ever. NULL: nothing. */
void nccl_comm_close(NcclComm *nccl);

/* "2.28.9", or what is missing. Opens no device. */
bool nccl_comm_describe(char text[NCCL_COMM_TEXT]);
const char *nccl_comm_version(const NcclComm *nccl);

/* As those of comm/comm.h, on memory of the GPU. Sums of fp32, bf16, fp16 and fp64: each rank's elements are
 * multiplied by `scale`, in their own dtype, before they are added. */
Status nccl_comm_all_reduce(NcclComm *nccl, Backend *be, const void *in, void *out, int64_t count,
                            DType dtype, float scale);
Status nccl_comm_reduce_scatter(NcclComm *nccl, Backend *be, const void *in, void *out,
                                int64_t count, DType dtype, float scale);
Status nccl_comm_all_gather(NcclComm *nccl, Backend *be, const void *in, void *out, int64_t count,
                            DType dtype);
Status nccl_comm_broadcast(NcclComm *nccl, Backend *be, void *data, size_t bytes, int root);
/* One of them in place, as comm_collective(). */
Status nccl_comm_collective(NcclComm *nccl, Backend *be, Collective op, void *data, int64_t count,
                            DType dtype);

#ifdef __cplusplus
}
#endif
