/* cmocka, after the headers it wants to find included already. */
#ifndef TESTS_WITH_CMOCKA_H
#define TESTS_WITH_CMOCKA_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#endif
