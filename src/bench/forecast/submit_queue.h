/* Ops that a host submits to a device one by one. An op starts when it has been submitted and the one before
 * it has ended, so the slower of the two sides sets the pace. */
#pragma once

#include "plan/plan.h"

/* Zeroed it is empty; so it is before each phase, because phases are measured one by one. */
typedef struct SubmitQueue {
    Phase phase;
    double submitted, done; /* seconds since the phase began */
} SubmitQueue;

/* An op that takes the host `host` seconds and the device `seconds`: how long the device waits for it. */
double submit_queue_add(SubmitQueue *queue, Phase phase, double host, double seconds);
