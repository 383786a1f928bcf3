#include "cli/commands/resumed_rows.h"

#include "base/file_lock.h"
#include "base/log.h"
#include "bench/record/record_file.h"
#include "cli/commands/bench_output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A sweep resumes one file; only a suite resumes a folder. */
static Status refuse_folder(const char *path)
{
    struct stat info;
    char suite[PATH_MAX];
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return ST_OK;
    snprintf(suite, sizeof suite, "%s/suite.json", path);
    if (access(suite, F_OK) == 0)
        return FAIL(ST_USAGE,
                    "--resume %s: this is a suite's folder; run roofstep suite --resume %s", path,
                    path);
    return FAIL(ST_USAGE, "--resume %s: this is a folder; name a result file, as %s/results.json",
                path, path);
}

Status resumed_rows_read(RecordSet *known, const Settings *settings)
{
    bool torn = false;
    if (!settings->resume) return ST_OK;
    TRY(refuse_folder(settings->resume));
    TRY(bench_output_lock_resumed(settings));
    if (access(settings->resume, F_OK) != 0 && errno == ENOENT) {
        /* --out F --resume F is how a script starts and resumes; another name may be a typo */
        const bool meant = settings->out && file_lock_is_same(settings->out, settings->resume);
        if (!meant) log_note("%s does not exist yet: running every cell", settings->resume);
        return ST_OK;
    }
    TRY(record_file_read(known, settings->resume, &torn));
    if (torn) log_warning("%s: ignoring its truncated last line", settings->resume);
    return ST_OK;
}
