/* What the harnesses have in common. Each fuzz_NAME.c is one harness: LLVMFuzzerTestOneInput()
 * gives some bytes to the readers of one kind of input, and aborts where what comes back breaks a
 * promise. The sanitizers see to the rest. */
#pragma once

#include "base/text.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Says what is wrong and aborts. */
_Noreturn void harness_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A bit for each way in which a reader may refuse. */
#define HARNESS_MAY(code) (1u << (ST_##code))
/* Before a reader is called: the message of an earlier failure would hide one that is missing. */
void harness_forget(void);
/* True when it was taken; false when it was refused in one of these ways, with a line that says why. */
bool harness_taken(Status status, unsigned may);

/* A folder of this process, removed when it ends. */
const char *harness_folder(void);
/* Writes a file in it, folders on the way included; the path is good until the next call. */
const char *harness_put(const char *name, const void *data, size_t n);
/* Removes all that harness_put() wrote. */
void harness_clear(void);

/* Runs a command of the program, stdout and files aside as a user would; the words end in NULL. */
Status harness_command(const char *const *words);

/* An input that stands for several files:
 *     @@ name
 *     text
 * What stands before the first name is called "". */
typedef void HarnessFile(void *self, const char *name, const uint8_t *data, size_t n);
void harness_split(const uint8_t *data, size_t n, HarnessFile *each, void *self);
