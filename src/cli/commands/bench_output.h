/* Writes a sweep's results to stdout or --out, to --out-json, and to the file it resumes. */
#pragma once

#include "config/settings.h"
#include "report/records/report_sink.h"

enum { BENCH_OUTPUT_MAX = 3 };

typedef struct BenchOutput {
    const Settings *settings;
    ReportSink files[BENCH_OUTPUT_MAX];
    int n_files;
} BenchOutput;

/* ST_USAGE: rows cannot be appended to the file of --resume, and the results go to no other file. */
Status bench_output_check(const Settings *settings);

/* Call it before the resumed file is read. ST_USAGE: another process writes it. */
Status bench_output_lock_resumed(const Settings *settings);

/* Opens every file and writes to it, so that a file that cannot be written fails before the work.
 * `known` are the resumed results; they stay in the files. The caller closes it, after a failure too. */
Status bench_output_open(BenchOutput *output, const Settings *settings, const RecordSet *known);
/* For RunnerTask.finished: `self` is the BenchOutput. */
Status bench_output_add(void *self, Record *record);
/* `rows` are the sweep's, in order; resumed results that are not in the sweep stay in the files. */
Status bench_output_finish(BenchOutput *output, const RecordSet *rows, const RecordSet *known);
/* To stdout. */
Status bench_output_print(const BenchOutput *output, const RecordSet *rows);
void bench_output_close(BenchOutput *output);
