/* Arrays that grow. */
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Makes room for `more` elements after the first `count`. `array` is the address of a pointer, NULL at
 * first; `size` is the bytes of one element. The capacity is a power of two that follows from `count`,
 * so only this function may grow the array. On failure *array stays valid. The caller frees it. */
Status array_grow(void *array, size_t count, size_t more, size_t size);
/* The index of the first element that is not below `key`, `n` where there is none. The elements begin
 * with an int64_t, their key, and are in its order. */
size_t array_first_from(const void *array, size_t n, size_t size, int64_t key);
/* Frees what the pointer at `array` points to, for CLEANUP(). */
void array_free(void *array);
