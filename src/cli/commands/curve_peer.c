#include "cli/commands/curve_peer.h"

#include "base/error_text.h"
#include "base/temp_file.h"
#include "report/export/export_curve.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of all cells, which are processes forked from this one. */
static TempFile *start; /* empty until the first cell of a peer has written it */
static CurveText *text;

static PeerChoice choice_of(const Settings *settings)
{
    return (PeerChoice){settings->peer, settings->peer_variants, 1};
}

Status curve_peer_check(const Settings *settings, const Config *cell)
{
    const PeerChoice choice = choice_of(settings);
    Peer peers[PEER_MAX];
    int n = 0;
    if (!choice.name && choice.variants) return FAIL(ST_USAGE, "--peer-variant needs --peer torch");
    return peer_list(&choice, cell, peers, &n);
}

/* In the child of a peer's cell. What is written is whole, or not there. */
static Status add_start(const Config *config, Text *words)
{
    const char *path = temp_file_path(start);
    struct stat info;
    if (stat(path, &info) != 0) return FAIL(ST_IO, "cannot read %s: %s", path, error_text(errno));
    if (info.st_size == 0) TRY(export_curve(config, text, path));
    text_printf(words, "--curve%c%s%c", 0, path, 0);
    return ST_OK;
}

Status curve_peer_begin(RunnerTask *task, const Settings *settings, CurveText *read)
{
    const char *own = getenv("TMPDIR");
    char path[PATH_MAX];
    int fd = -1;
    if (!settings->peer) return ST_OK;
    const int n = snprintf(path, sizeof path, "%s/roofstep-curve", own && *own ? own : "/tmp");
    if (n < 0 || (size_t)n >= sizeof path) return FAIL(ST_USAGE, "TMPDIR: the path is too long");
    temp_file_remove_stale_of(path);
    start = temp_file_create(path, &fd);
    if (!start)
        return FAIL(ST_IO, "cannot create a file for --peer in %.*s: %s (TMPDIR names the folder)",
                    (int)(n - (int)sizeof "/roofstep-curve" + 1), path, error_text(errno));
    (void)!fchmod(fd,
                  S_IRUSR | S_IWUSR); /* others may look into the folder: the text is the user's */
    close(fd);
    text = read;
    task->peer = choice_of(settings);
    task->peer_words = add_start;
    return ST_OK;
}

void curve_peer_end(void)
{
    temp_file_remove(start);
    start = NULL;
}
