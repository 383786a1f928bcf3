/* Arrays that grow. */
#pragma once

#include "base/status.h"

#include <stddef.h>

/* Room for `more` elements after the `count` that *array holds; `array` is the address of a
 * pointer, `size` one element's bytes. Capacities are powers of two that follow from `count`, so an
 * array grows by this function alone, from NULL on. On failure *array stays valid. The caller frees
 * it. */
Status array_grow(void *array, size_t count, size_t more, size_t size);
/* Frees what the pointer at `array` points to, for CLEANUP(). */
void array_free(void *array);
