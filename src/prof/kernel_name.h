/* A kernel's name as people say it. */
#pragma once

#include <stddef.h>

/* "softmax_kernel" of "void ns::softmax_kernel<float, (int)4>(float const*, int)": no return type,
 * no namespace, no template, no parameters; cut to `size`. A name without any of these stays as it
 * is, and so does "[CUDA memset]". "matmul (own neon)" of "matmul (own neon): ffn/w13", which
 * stands for a kernel on a CPU. */
void kernel_name_short(const char *demangled, char *text, size_t size);
