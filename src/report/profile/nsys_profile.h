/* The CSV files of one run of `nsys stats`, put together to a profile. */
#pragma once

#include "report/profile/nsys_table.h"

#include <jansson.h>

typedef struct NsysProfile NsysProfile;

/* nsys_profile_close() frees; of NULL it does nothing. */
Status nsys_profile_open(NsysProfile **profile);
void nsys_profile_close(NsysProfile *profile);
/* One file's text; in the order of nsys_inputs.def. ST_USAGE, without the file's name, as
 * nsys_table_read(). */
Status nsys_profile_add(NsysProfile *profile, NsysInput input, const char *file, const char *text,
                        size_t n);
/* Appends what nsys_folder.h says; the prefix is the first `n` bytes. */
Status nsys_profile_finish(NsysProfile *profile, json_t *list, const char *prefix, size_t n);
