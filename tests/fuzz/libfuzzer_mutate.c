/* Every other change of libFuzzer's is one of ours: a tree of JSON is not found by changing bytes. */
#include "mutator.h"

#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed)
{
    Mutator m = {.seed = seed};
    Text text = {0};
    if (mutator_below(&m, 2)) return LLVMFuzzerMutate(data, n, most);
    text_append(&text, (const char *)data, n);
    mutator_change(&m, &text);
    const bool fits = text.n <= most && !text.failed;
    const size_t made = fits ? text.n : n;
    if (fits && made > 0) memcpy(data, text_str(&text), made);
    text_free(&text);
    return made;
}
