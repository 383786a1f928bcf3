#include "cli/chart_folder.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/json_text.h"
#include "bench/measure/child.h"
#include "cli/output.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_BROWSER = 111, TIMEOUT = 120 };

typedef struct Charts {
    const char *folder;
    char private[PATH_MAX]; /* holds the page and what the browser stores */
    int n;
    Status status;
} Charts;

/* Returns only when there is none. Its own messages are about a screen that is not there. */
static int browse(void *arg, int out)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome",
                                        "google-chrome-stable"};
    const Charts *charts = arg;
    char data[PATH_MAX + 32], page[PATH_MAX + 32];
    snprintf(data, sizeof data, "--user-data-dir=%s/data", charts->private);
    snprintf(page, sizeof page, "file://%s/page.html#charts", charts->private);
    if (dup2(out, STDOUT_FILENO) < 0 || !freopen("/dev/null", "w", stderr)) return NO_BROWSER;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const argv[] = {names[i],
                                    "--headless",
                                    "--disable-gpu",
                                    "--disable-dev-shm-usage",
                                    "--dump-dom",
                                    data,
                                    page,
                                    geteuid() == 0 ? "--no-sandbox" : NULL,
                                    NULL};
        execvp(argv[0], (char *const *)argv);
    }
    return NO_BROWSER;
}

/* ---- what it sends: a line {"chart": name, "svg": text, "csv": text} each ---- */

/* A name that a page made of titles, and no path. */
static bool is_name(const char *name)
{
    return name && *name && *name != '.' && !strchr(name, '/') && strlen(name) < 128;
}

static Status write_file(const Charts *charts, const char *name, const char *ending,
                         const char *text)
{
    char path[PATH_MAX], file[160];
    snprintf(file, sizeof file, "%s.%s", name, ending);
    TRY(output_path(charts->folder, file, path));
    return text_write_file(path, text, strlen(text));
}

static Status write_chart(Charts *charts, const json_t *json)
{
    const char *name = json_string_value(json_object_get(json, "chart"));
    const char *svg = json_string_value(json_object_get(json, "svg"));
    const char *csv = json_string_value(json_object_get(json, "csv"));
    if (!is_name(name) || !svg || !csv) return FAIL(ST_FAILED, "the page has a chart without name");
    TRY(write_file(charts, name, "svg", svg));
    TRY(write_file(charts, name, "csv", csv));
    charts->n++;
    return ST_OK;
}

static void take_line(void *self, const char *line, size_t length)
{
    static const char begin[] = "{\"chart\":";
    Charts *charts = self;
    if (charts->status != ST_OK || strncmp(line, begin, strlen(begin)) != 0) return;
    CLEANUP(json_text_free) json_t *json = json_loadb(line, length, 0, NULL);
    if (json) charts->status = write_chart(charts, json);
}

/* ---- the run ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    remove(path);
    return 0;
}

static Status run(Charts *charts)
{
    ChildResult result;
    const ChildTask task = {.body = browse,
                            .arg = charts,
                            .timeout = TIMEOUT,
                            .self = charts,
                            .message = take_line,
                            .adopts = true};
    TRY(child_run(&task, &result));
    TRY(charts->status);
    if (result.end == CHILD_RETURNED && result.code == NO_BROWSER)
        return FAIL(ST_UNSUPPORTED,
                    "--charts needs Chromium, which draws them (Debian: apt install "
                    "chromium); the page's buttons save each chart without it");
    if (result.end != CHILD_RETURNED || result.code != 0)
        return FAIL(ST_FAILED, "Chromium could not draw the charts: %s", result.text);
    if (charts->n == 0) return FAIL(ST_FAILED, "these files have no charts");
    return ST_OK;
}

Status chart_folder_write(const char *folder, const Text *page)
{
    Charts charts = {.folder = folder};
    char path[PATH_MAX];
    const char *place = getenv("TMPDIR");
    TRY(folder_make(folder));
    if (!place || *place != '/') place = "/tmp";
    TRY(output_path(place, "roofstep-charts-XXXXXX", charts.private));
    if (!mkdtemp(charts.private)) return FAIL(ST_IO, "%s: %s", charts.private, strerror(errno));
    Status status = output_path(charts.private, "page.html", path);
    if (status == ST_OK) status = text_write_file(path, text_str(page), page->n);
    if (status == ST_OK) status = run(&charts);
    nftw(charts.private, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}
