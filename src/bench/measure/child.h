/* A function in a process of its own: whatever happens to it is a result here, never the end of the
 * program. The caller must be single-threaded and must not have touched a device. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILD_MAX_MESSAGE = 16 << 20, CHILD_MESSAGE_TEXT = 512 };

typedef struct ChildTask {
    /* Runs in the child. Messages go to `out`, one per line; what is printed goes to `printed`
     * below, whether to stdout or to stderr. Returns the exit code. */
    int (*body)(void *arg, int out);
    void *arg;
    double timeout; /* seconds, 0 for none */

    /* Run in the parent; each may be NULL. */
    void *self;
    void (*message)(void *self, const char *line, size_t length); /* whole lines only */
    void (*printed)(void *self, const char *line);
    void (*tick)(void *self);    /* several times a second */
    bool (*is_over)(void *self); /* asked after every message, and as often: true ends it */
    bool adopts; /* processes that outlive the one that started them are ended with it */
} ChildTask;

typedef enum ChildEnd {
    CHILD_RETURNED,    /* body returned; `code` is what */
    CHILD_SIGNALLED,   /* died of signal `code`, which we did not send */
    CHILD_TIMED_OUT,   /* we killed it */
    CHILD_FLOODED,     /* we killed it: a message longer than CHILD_MAX_MESSAGE */
    CHILD_ENDED,       /* we killed it: is_over() said so */
    CHILD_INTERRUPTED, /* we killed it, because of signal `code` (bench/measure/interrupt.h) */
} ChildEnd;

typedef struct ChildResult {
    ChildEnd end;
    int code;
    char text[CHILD_MESSAGE_TEXT]; /* one line for people, empty when it returned 0 */
} ChildResult;

/* Fails only when no child could be started. Waits until it is gone. */
Status child_run(const ChildTask *task, ChildResult *result);

/* Writes all of it, however many pieces the pipe makes of it; false when the reader is gone. */
bool child_write(int out, const char *data, size_t n);
