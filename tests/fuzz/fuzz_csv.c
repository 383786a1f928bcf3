/* CSV files by name: those of `profile` (validate) and those of `nsys stats` (profile --from). */
#include "harness.h"
#include "report/format/table_md.h"
#include "report/profile/nsys_folder.h"
#include "report/profile/profile_tables.h"
#include "report/validate/validate.h"

#include <string.h>

static const unsigned refusals = HARNESS_MAY(USAGE) | HARNESS_MAY(NO_MEMORY);

static void put(void *self, const char *name, const uint8_t *data, size_t n)
{
    (void)self;
    ValidateNote note;
    if (strchr(name, '/')) return;
    const char *path = harness_put(*name ? name : "p_cuda_gpu_kern_sum.csv", data, n);
    harness_forget();
    harness_taken(validate_file(path, &note), refusals | HARNESS_MAY(FAILED) | HARNESS_MAY(IO));
}

static void write_tables(const json_t *profiles)
{
    static const char *const formats[] = {"md", "typst"};
    for (int i = 0; i < 2; i++) {
        const ProfileTables how = {.format = formats[i], .top = 10};
        Text text = {0};
        harness_taken(profile_nsys_tables_write(&text, &how, profiles), refusals);
        text_free(&text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    json_t *profiles = NULL;
    harness_folder();
    harness_split(data, n, put, NULL);
    harness_forget();
    if (harness_taken(nsys_folder_read(&profiles, harness_folder()), refusals)) {
        write_tables(profiles);
        json_decref(profiles);
    }
    harness_clear();
    return 0;
}
