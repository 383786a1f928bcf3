/* Whether other programs want the cores that our threads run on: a thread that was ready to run
 * has waited for a core. Steal time does not count: nobody gets a virtual core sooner by leaving
 * it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Called by a thread that waits for others (`now` is clock_nanoseconds()). True when one of them
 * had to wait for a core within the last 100 ms, and where the system does not say. */
bool cpu_contention_near(int64_t now);
