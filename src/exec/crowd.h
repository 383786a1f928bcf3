/* Whether other programs want the processors that this one's threads run on: a thread that is ready has had to wait for
 * one. Time that a hypervisor took does not count; nobody gets a processor sooner by leaving it. */
#ifndef EXEC_CROWD_H
#define EXEC_CROWD_H

#include <stdbool.h>
#include <stdint.h>

/* By each thread of a parallel region, when it has done its part (`now` is clock_nanoseconds()): one of them has had to
 * wait within the last tenth of a second. False where the system does not tell. */
bool crowd_near(int64_t now);

#endif
