#include "base/error_text.h"

#include <errno.h>
#include <string.h>

const char *error_text(int error)
{
    if (error == EMFILE)
        return "too many open files: the limit is too low, raise it with ulimit -n 256";
    return strerror(error);
}
