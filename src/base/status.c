#include "base/status.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1024];
static atomic_bool lost_memory;

Status status_fail(Status code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return code;
}

void status_context(const char *fmt, ...)
{
    char tail[sizeof message];
    memcpy(tail, message, sizeof tail);
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    const int room = (int)sizeof message - n - 3; /* ": " and the zero */
    if (n < 0 || room < 0) return;
    snprintf(message + n, (size_t)room + 3, ": %.*s", room, tail);
}

const char *status_text(Status code)
{
    static const char *const texts[] = {
#define XX(name, text) text,
        STATUS_MAP(XX)
#undef XX
    };
    return texts[code];
}

const char *status_message(void)
{
    return message;
}

void status_note_no_memory(void)
{
    atomic_store(&lost_memory, true);
}

bool status_ran_out_of_memory(void)
{
    return atomic_load(&lost_memory);
}
