/* What the device itself says of the memory a session took. */
#ifndef BENCH_MEASURE_DEVICE_MEMORY_H
#define BENCH_MEASURE_DEVICE_MEMORY_H

#include "exec/session.h"

/* Bytes that the session's regions and arena really hold: on a CPU the pages that were touched, elsewhere
 * what becomes free when they are given back, the libraries being warm. The session's memory is gone
 * afterwards; session_close() is still due. */
Status device_memory_peak(Session *session, size_t *bytes);

#endif
