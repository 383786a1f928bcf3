/* `validate`: every kind of JSON file, packed or not, and memory snapshots (pickle). What it says
 * of a file it says again. */
#include "harness.h"
#include "report/validate/validate.h"

#include <string.h>

static const unsigned refusals =
    HARNESS_MAY(FAILED) | HARNESS_MAY(USAGE) | HARNESS_MAY(IO) | HARNESS_MAY(NO_MEMORY);

static void check(const char *name, const uint8_t *data, size_t n)
{
    const char *path = harness_put(name, data, n);
    ValidateNote first, second;
    char message[1024];
    harness_forget();
    const Status status = validate_file(path, &first);
    const bool taken = harness_taken(status, refusals);
    if (taken && !first.s[0]) harness_fail("a file of no kind is whole");
    snprintf(message, sizeof message, "%s", status_message());
    harness_forget();
    if (validate_file(path, &second) != status || strcmp(message, status_message()) != 0 ||
        (taken && strcmp(first.s, second.s) != 0))
        harness_fail("'%s%s', then '%s%s'", message, taken ? first.s : "", status_message(),
                     second.s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const bool pickle = n > 0 && data[0] == 0x80;
    const bool packed = n > 1 && data[0] == 0x1f && data[1] == 0x8b;
    check(pickle ? "f.pickle" : packed ? "f.json.gz" : "f.json", data, n);
    if (!pickle && !packed) check("f.jsonl", data, n);
    return 0;
}
