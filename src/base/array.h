/* Arrays that grow. */
#pragma once

#include "base/status.h"

#include <stddef.h>

/* Makes room for `more` elements after the first `count`. `array` is the address of a pointer, NULL at
 * first; `size` is the bytes of one element. The capacity is a power of two that follows from `count`,
 * so only this function may grow the array. On failure *array stays valid. The caller frees it. */
Status array_grow(void *array, size_t count, size_t more, size_t size);
/* Frees what the pointer at `array` points to, for CLEANUP(). */
void array_free(void *array);
