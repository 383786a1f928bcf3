#include "bench/forecast/submit_queue.h"

#include <math.h>

double submit_queue_add(SubmitQueue *queue, Phase phase, double host, double seconds)
{
    if (queue->phase != phase) *queue = (SubmitQueue){.phase = phase};
    queue->submitted += host;
    const double waited = fmax(queue->submitted - queue->done, 0);
    queue->done += waited + seconds;
    return waited;
}
