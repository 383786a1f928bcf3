/* A profile as the CSV files that Nsight Systems' `nsys stats` writes (nsys_reports.def). */
#pragma once

#include "base/text.h"
#include "bench/record/profile_view.h"
#include "prof/profiler.h"

typedef enum NsysReport {
#define NSYS_REPORT(id, name, header) NSYS_##id,
#include "report/profile/nsys_reports.def"
    NSYS_COUNT
} NsysReport;

const char *nsys_csv_name(NsysReport report);   /* "cuda_gpu_kern_sum" */
const char *nsys_csv_header(NsysReport report); /* without the line's end */

/* Appends a report that sums; every one but NSYS_TRACE. */
Status nsys_csv_sum(Text *out, NsysReport report, const ProfileView *view);
/* Appends NSYS_TRACE: on a CPU the nodes stand for kernels. */
Status nsys_csv_trace(Text *out, const Profiler *profiler);
