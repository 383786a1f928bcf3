/* Whether other programs want the processors that this one's threads run on: a thread that was ready has had to wait for
 * one. What a hypervisor takes while a thread runs does not count; nobody gets a processor sooner by leaving it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* By each thread of a parallel region, when it has done its part (`now` is clock_nanoseconds()): a tenth of a second ago, or
 * less, one of them found that it had waited. True where the system does not tell. */
bool cpu_contention_near(int64_t now);
