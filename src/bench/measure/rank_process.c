#include "bench/measure/rank_process.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "base/log.h"
#include "bench/measure/rank_report.h"
#include "comm/comm.h"
#include "comm/comm_activity.h"
#include "comm/launcher.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory of both processes: what the rank is doing. */
typedef struct Shown {
    _Atomic int pid, activity;
} Shown;

typedef struct Watch {
    const Settings *settings;
    const Config *config;
    RankCell *cell;
    Shown *shown;
    double started;
    pid_t launcher;
    bool abandoned, done; /* the launcher is gone; the rank said that all is well */
    RankReport report;
} Watch;

/* In the child. */
static int run_body(void *arg, int out)
{
    const Watch *watch = arg;
    CellLink link;
    signal(SIGTERM, SIG_DFL);
    atomic_store(&watch->shown->pid, getpid());
    comm_activity_tell(&watch->shown->activity);
    cell_link_open(&link, out);
    const Status status = watch->cell(watch->settings, watch->config, &link);
    if (status != ST_OK) (void)cell_link_fail(&link, status);
    cell_link_close(&link);
    if (status != ST_OK) return 1; /* to end MPI would wait for the other ranks */
    comm_end();
    return 0;
}

/* In the parent: all that follows. That all is well is told at once, for the rank has to end
 * MPI yet. An end that is not well is reported when the process is gone. */
static void take_end(Watch *watch, const json_t *message)
{
    const char *text = record_text(message, "message");
    watch->report.status = record_status_find(record_text(message, "end"));
    watch->done = watch->report.status == RECORD_OK;
    snprintf(watch->report.text, sizeof watch->report.text, "%s", text ? text : "");
    if (watch->done) rank_report_print(&watch->report);
}

static void on_message(void *self, const char *line, size_t length)
{
    Watch *watch = self;
    CLEANUP(json_text_free) json_t *message = json_loadb(line, length, 0, NULL);
    if (record_text(message, "end")) take_end(watch, message);
    if (watch->report.rank != 0 || watch->report.text[0]) return;
    if (child_write(STDOUT_FILENO, line, length)) (void)child_write(STDOUT_FILENO, "\n", 1);
}

static void on_printed(void *self, const char *line)
{
    (void)self;
    log_line(line);
}

/* 'T' or 't': stopped by a signal or a debugger. */
static bool is_stopped(int pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *name_end = strrchr(text, ')');
    return name_end && (name_end[2] == 'T' || name_end[2] == 't');
}

static RankState state_of(const Shown *shown)
{
    const int activity = atomic_load(&shown->activity);
    if (is_stopped(atomic_load(&shown->pid))) return RANK_STOPPED;
    return activity == COMM_COLLECTIVE ? RANK_WAITING
           : activity == COMM_STARTS   ? RANK_STARTING
                                       : RANK_BUSY;
}

static bool is_over(void *self)
{
    Watch *watch = self;
    watch->abandoned = getppid() != watch->launcher;
    if (watch->abandoned) return true;
    if (watch->done)
        return false; /* the process that started the launcher waits no longer than it wants to */
    if (clock_seconds() - watch->started < watch->config->timeout) return false;
    if (watch->report.status == RECORD_TIMEOUT)
        return true; /* it has been killed since, and looks different */
    watch->report.status = RECORD_TIMEOUT;
    watch->report.state = state_of(watch->shown);
    return true;
}

/* The process that started the launcher has the report and ends all ranks. Before that a launcher
 * that sees one of them go would do so, and the others could not say how they ended. */
static void wait_for_end(const Watch *watch)
{
    static const double long_enough = 20; /* seconds */
    const double begun = clock_seconds();
    while (getppid() == watch->launcher && clock_seconds() - begun < long_enough) usleep(10000);
}

/* Returns the exit code. */
static int judge(Watch *watch, const ChildResult *end)
{
    RankReport *report = &watch->report;
    if (watch->abandoned) return 1;
    if (watch->done) {
        if (end->end != CHILD_RETURNED || end->code != 0) wait_for_end(watch);
        return 0;
    }
    if (end->end != CHILD_ENDED && !report->text[0]) {
        report->status = cell_link_status_of(end);
        if (report->status == RECORD_OK) report->status = RECORD_FAILED;
        snprintf(report->text, sizeof report->text, "%s",
                 end->text[0] ? end->text : "ended without a result");
    }
    rank_report_print(report);
    wait_for_end(watch);
    return 1;
}

/* A launcher that ends all ranks sends SIGTERM first, and what became of this one would not be told. */
int rank_process_run(const Settings *settings, const Config *config, RankCell *cell)
{
    ChildResult end;
    Config own = *config;
    Watch watch = {.settings = settings,
                   .config = &own,
                   .cell = cell,
                   .started = clock_seconds(),
                   .launcher = getppid(),
                   .report.rank = launcher_rank()};
    own.share_gpu = settings->share_gpu;
    watch.shown =
        mmap(NULL, sizeof *watch.shown, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (watch.shown == MAP_FAILED || watch.report.rank < 0) return 1;
    signal(SIGTERM, SIG_IGN);
    const ChildTask task = {.body = run_body,
                            .arg = &watch,
                            .self = &watch,
                            .message = on_message,
                            .printed = on_printed,
                            .is_over = is_over};
    if (child_run(&task, &end) == ST_OK) return judge(&watch, &end);
    watch.report.status = RECORD_FAILED;
    snprintf(watch.report.text, sizeof watch.report.text, "%s", status_message());
    rank_report_print(&watch.report);
    wait_for_end(&watch);
    return 1;
}
