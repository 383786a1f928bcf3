/* A device: its memory, its queue of work and its clock. It knows no ops. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum BackendId {
#define BACKEND(name) BACKEND_##name,
#include "backend/backends.def"
    BACKEND_COUNT
} BackendId;

enum { BACKEND_MARKS = 8 };

typedef struct Backend Backend;

typedef struct BackendApi {
    const char *name;
    bool absent; /* this build cannot open it: only capability and open, which fails, are there */
    /* A GPU's generation: 90 for compute capability 9.0, 0 when there is no such device. The
     * caller can still fork afterwards. NULL on a CPU. */
    int (*capability)(int device);
    /* How many devices this process can open; it must not fork to use them afterwards. NULL on a CPU. */
    int (*count)(void);
    Status (*open)(Backend **out, int device); /* a CPU has no state: *out is NULL */
    void (*close)(Backend *be);
    /* Memory is not cleared. ST_NO_MEMORY says how much was asked for and how much there is. */
    Status (*alloc)(Backend *be, size_t bytes, void **out);
    void (*release)(Backend *be, void *memory, size_t bytes);
    Status (*upload)(Backend *be, void *dst, const void *src, size_t bytes);
    Status (*download)(Backend *be, void *dst, const void *src, size_t bytes);
    Status (*clear)(Backend *be, void *dst, size_t bytes); /* zero bytes */
    Status (*sync)(Backend *be);                           /* waits for all queued work */
    Status (*available)(Backend *be, size_t *bytes);       /* memory that could be taken now */
    /* How much of what alloc gave is really held; NULL where all of it is. */
    Status (*touched)(Backend *be, const void *memory, size_t bytes, size_t *held);

    /* Only where work is queued (NULL on a CPU). A mark is a point in the queue; elapsed waits for
     * both. Work between capture_begin and capture_end is recorded, not run; launch queues it. */
    Status (*mark)(Backend *be, int slot);
    Status (*elapsed)(Backend *be, int from, int to, double *seconds);
    Status (*capture_begin)(Backend *be);
    Status (*capture_end)(Backend *be, void **graph);
    Status (*launch)(Backend *be, void *graph);
    void (*drop)(Backend *be, void *graph);

    /* A second queue beside the first, for `n` pieces of work (NULL: there is none). What is queued between
     * beside_begin and beside_end goes there, behind all that is in the first one by then. It is recorded
     * as other work is; before capture_end all its pieces must have been waited for. */
    Status (*beside_open)(Backend *be, int n);
    Status (*beside_begin)(Backend *be, int piece);
    Status (*beside_end)(Backend *be, int piece);
    /* What the first queue gets from now on waits for this piece and those before it. */
    Status (*beside_wait)(Backend *be, int piece);
    /* How long it took when it last ran; waits for it. */
    Status (*beside_seconds)(Backend *be, int piece, double *seconds);
} BackendApi;

const BackendApi *backend_api(BackendId id);

#ifdef __cplusplus
}
#endif
