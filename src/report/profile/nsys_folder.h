/* A folder of CSV files that `nsys stats` wrote (report/profile/nsys_inputs.def), as profiles. */
#pragma once

#include "base/status.h"

#include <jansson.h>

/* An array with an object for each prefix of files, "report1" of report1_cuda_gpu_kern_sum.csv: its
 * `prefix`, `files`, `missing` (columns by file) and `profile`, which profile_view_make() takes. It
 * is the caller's to json_decref(). ST_USAGE with one line: no such folder, no such files, or one
 * that cannot be read, and where. */
Status nsys_folder_read(json_t **out, const char *folder);
