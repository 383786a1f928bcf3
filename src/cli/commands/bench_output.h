/* Where a sweep's results go: stdout or --out, --out-json beside it, and the file it resumes. */
#ifndef CLI_COMMANDS_BENCH_OUTPUT_H
#define CLI_COMMANDS_BENCH_OUTPUT_H

#include "config/settings.h"
#include "report/records/report_sink.h"

enum { BENCH_OUTPUT_MAX = 3 };

typedef struct BenchOutput {
    const Settings *settings;
    const char *format; /* of the report */
    ReportSink files[BENCH_OUTPUT_MAX];
    int n_files;
} BenchOutput;

/* ST_USAGE: --resume names a file that cannot go on growing, and the results go nowhere else. */
Status bench_output_check(const Settings *settings);

/* Before the resumed file is read. ST_USAGE: another process writes it. */
Status bench_output_lock_resumed(const Settings *settings);

/* Opens every file and writes to it now, so that what cannot be written is known before the work.
 * `known` are results already there; they stay in the files. */
Status bench_output_open(BenchOutput *output, const Settings *settings, const RecordSet *known);
/* For RunnerTask.finished: `self` is the BenchOutput. */
Status bench_output_add(void *self, Record *record);
/* `rows` are the sweep's, in order; `known` as above: what is not in the sweep stays in the files. */
Status bench_output_finish(BenchOutput *output, const RecordSet *rows, const RecordSet *known);
/* To stdout. */
Status bench_output_print(const BenchOutput *output, const RecordSet *rows);
void bench_output_close(BenchOutput *output);

#endif
