/* The communication queue of a session on a CPU: a thread that runs nodes in the order in which they are put
 * in, while the session's own threads compute. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct CommQueue CommQueue;
typedef Status CommQueueRun(void *self, int node);

/* Starts the thread, which runs each node with `run`. It has the place of the last of `threads`. */
Status comm_queue_open(CommQueue **out, CommQueueRun *run, void *self, int most, int threads);
void comm_queue_close(CommQueue *queue); /* when it is through. NULL: nothing */

/* At most `most` nodes are in it at a time. */
void comm_queue_put(CommQueue *queue, int node);
/* Until every node up to this one, in the order of the plan, is through; INT_MAX: all. What failed there
 * fails here. */
Status comm_queue_wait(CommQueue *queue, int node);
/* Whether a node is in it; it may be through a moment later. */
bool comm_queue_busy(const CommQueue *queue);
