/* Status codes, and the one message that says what went wrong.
 *
 * A function that can fail returns a Status and leaves its message in this thread; callers pass it
 * up with TRY. Only cli/ prints it. */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STATUS_MAP(XX)                                       \
    XX(OK, "ok")                                             \
    XX(USAGE, "bad usage")                                   \
    XX(IO, "a file could not be read or written")            \
    XX(NO_MEMORY, "not enough memory")                       \
    XX(UNSUPPORTED, "not supported here")                    \
    XX(DEVICE, "the device or its driver reported an error") \
    XX(INTERRUPTED, "interrupted")                           \
    XX(FAILED, "failed")

typedef enum Status {
#define XX(name, text) ST_##name,
    STATUS_MAP(XX)
#undef XX
} Status;

/* Records the message of a new failure and returns `code`. */
Status status_fail(Status code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "what: " before the message of a failure that is being passed up. */
void status_context(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

const char *status_text(Status code);
const char *status_message(void); /* of this thread's last failure */

/* For the whole process: a text is incomplete because memory ran out. Writers of text do not all check;
 * main() does before it reports success. */
void status_note_no_memory(void);
bool status_ran_out_of_memory(void);

#define FAIL(code, ...) status_fail((code), __VA_ARGS__)
/* An allocation failed: NO_MEMORY("for %d cells", n). */
#define NO_MEMORY(...) FAIL(ST_NO_MEMORY, "not enough memory " __VA_ARGS__)

/* Frees a variable when its scope ends, after a failed TRY too: CLEANUP(text_free) Text name = {0}; */
#define CLEANUP(free) __attribute__((cleanup(free)))

/* Passes a failure up to the caller. */
#define TRY(expr)                       \
    do {                                \
        const Status try_ = (expr);     \
        if (try_ != ST_OK) return try_; \
    } while (0)

#ifdef __cplusplus
}
#endif
