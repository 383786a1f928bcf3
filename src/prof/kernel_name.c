#include "prof/kernel_name.h"

#include <stdio.h>
#include <string.h>

/* Parameters and templates may hold blanks and colons, so the name ends at the first of them; but
 * "(anonymous namespace)::f" begins with one. */
static size_t name_length(const char *name)
{
    static const char anonymous[] = "(anonymous namespace)::";
    size_t n = 0;
    while (name[n] && name[n] != '<' && name[n] != '(') n++;
    if (strncmp(name + n, anonymous, sizeof anonymous - 1) != 0) return n;
    const size_t skipped = n + sizeof anonymous - 1;
    return skipped + name_length(name + skipped);
}

void kernel_name_short(const char *demangled, char *text, size_t size)
{
    size_t end = name_length(demangled), begin = end;
    while (begin > 0 && demangled[begin - 1] != ' ' && demangled[begin - 1] != ':') begin--;
    /* no C++: "[CUDA memset]", or "matmul (own neon): ffn/w13", which stands for a kernel on a CPU */
    if (begin == end || demangled[0] == '[') {
        const char *scope = strstr(demangled, "): ");
        begin = 0;
        end = scope ? (size_t)(scope - demangled) + 1 : strlen(demangled);
    }
    snprintf(text, size, "%.*s", (int)(end - begin), demangled + begin);
}
