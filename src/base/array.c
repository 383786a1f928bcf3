#include "base/array.h"

#include <stdlib.h>
#include <string.h>

Status array_grow(void *array, size_t count, size_t more, size_t size)
{
    void *memory;
    size_t capacity = 16, needed, bytes;
    memcpy(&memory, array, sizeof memory); /* the caller's pointer has a type of its own */
    while (capacity < count) capacity *= 2;
    if (memory && more <= capacity - count) return ST_OK;
    if (__builtin_add_overflow(count, more, &needed) || needed > SIZE_MAX / 2)
        return NO_MEMORY("for an array");
    while (capacity < needed) capacity *= 2;
    if (__builtin_mul_overflow(capacity, size, &bytes) || !(memory = realloc(memory, bytes)))
        return NO_MEMORY("for an array of %zu elements", needed);
    memcpy(array, &memory, sizeof memory);
    return ST_OK;
}

size_t array_first_from(const void *array, size_t n, size_t size, int64_t key)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        int64_t found;
        memcpy(&found, (const char *)array + middle * size, sizeof found);
        if (found < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void array_free(void *array)
{
    void *memory;
    memcpy(&memory, array, sizeof memory); /* whatever its type */
    free(memory);
}
