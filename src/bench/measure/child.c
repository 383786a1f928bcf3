#include "bench/measure/child.h"

#include "base/clock.h"
#include "base/error_text.h"
#include "base/log.h"
#include "bench/measure/interrupt.h"
#include "bench/measure/line_reader.h"
#include "bench/measure/orphans.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST_PRINTED = 4096, LAST_LINE = 240, READS_PER_ROUND = 16 };
enum { TICK_MS = 100, NEARLY_GONE_MS = 2 };
static const double unkillable_after = 30; /* seconds: stuck in a driver */

typedef struct Stream {
    int fd; /* -1 at its end */
    LineReader lines;
} Stream;

typedef struct Watch {
    const ChildTask *task;
    pid_t pid;
    Stream messages, printed;
    char last_line[LAST_LINE]; /* that was printed and not empty */
    double started, killed_at;
    bool gone, killed; /* killed: by us */
    int wait_status;
    double cpu_seconds; /* that it took */
    ChildResult *result;
} Watch;

/* ---- in the child ---- */

/* When memory runs out the kernel is to take the cell, not the sweep. */
static void volunteer_for_oom(void)
{
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, "1000", 4) < 0) errno = 0; /* best effort: a container may forbid it */
    close(fd);
}

static _Noreturn void run_body(const ChildTask *task, int messages, int printed, pid_t parent)
{
    interrupt_reset_child();
    setpgid(0, 0); /* a terminal's Ctrl-C reaches the parent only, which knows what to do */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127); /* it died before the line above */
    volunteer_for_oom();
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) dup2(null, STDIN_FILENO);
    if (dup2(printed, STDOUT_FILENO) < 0 || dup2(printed, STDERR_FILENO) < 0) _exit(127);
    const int code = task->body(task->arg, messages);
    fflush(NULL);
    _exit(code);
}

bool child_write(int out, const char *data, size_t n)
{
    while (n > 0) {
        const ssize_t written = write(out, data, n);
        if (written < 0 && errno != EINTR) return false;
        if (written <= 0) continue;
        data += written;
        n -= (size_t)written;
    }
    return true;
}

/* ---- in the parent ---- */

/* Above the standard three, which dup2 replaces in the child. */
static int move_up(int fd)
{
    if (fd > STDERR_FILENO) return fd;
    const int up = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return up;
}

/* The caller closes both ends, also when this fails. */
static Status open_pipe(int *in, int *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return FAIL(ST_FAILED, "cannot make a pipe: %s", error_text(errno));
    *in = move_up(ends[0]);
    *out = move_up(ends[1]);
    if (*in < 0 || *out < 0 || fcntl(*in, F_SETFL, O_NONBLOCK) < 0)
        return FAIL(ST_FAILED, "cannot set up a pipe: %s", error_text(errno));
    return ST_OK;
}

static void close_end(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void kill_child(Watch *w, ChildEnd why, int code)
{
    if (w->killed) return;
    w->killed = true;
    w->killed_at = clock_seconds();
    w->result->end = why;
    w->result->code = code;
    if (w->gone) return;
    kill(-w->pid, SIGKILL); /* and whatever it started */
    kill(w->pid, SIGKILL);
}

static void take_message(void *self, const char *line, size_t length)
{
    const Watch *w = self;
    if (w->task->message) w->task->message(w->task->self, line, length);
}

static void take_printed(void *self, const char *line, size_t length)
{
    Watch *w = self;
    (void)length;
    if (log_is_repeated(line)) return;
    if (w->task->printed) w->task->printed(w->task->self, line);
    if (line[strspn(line, " \t\r-")] == '\0') return; /* mpirun frames its words with dashes */
    if (strstr(w->last_line, "noticed that process rank "))
        return; /* what mpirun says of itself after that */
    snprintf(w->last_line, sizeof w->last_line, "%s", line);
    for (char *c = w->last_line; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == '\177') *c = ' ';
    }
}

static void take(Watch *w, Stream *stream, const char *bytes, size_t n)
{
    if (stream == &w->messages) {
        if (line_reader_feed(&stream->lines, bytes, n, take_message, w) != ST_OK) {
            kill_child(w, CHILD_FLOODED, 0);
            close_end(&stream->fd);
        }
    } else if (line_reader_feed(&stream->lines, bytes, n, take_printed, w) != ST_OK) {
        line_reader_flush(&stream->lines, take_printed, w); /* the rest of this piece is dropped */
    }
}

static void read_stream(Watch *w, Stream *stream)
{
    char bytes[16384];
    for (int i = 0; i < READS_PER_ROUND && stream->fd >= 0; i++) {
        const ssize_t n = read(stream->fd, bytes, sizeof bytes);
        if (n > 0) {
            take(w, stream, bytes, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close_end(&stream->fd);
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

static void wait_for_news(const Watch *w)
{
    struct pollfd fds[] = {{.fd = w->messages.fd, .events = POLLIN},
                           {.fd = w->printed.fd, .events = POLLIN}}; /* poll() skips fd -1 */
    const bool ending = w->messages.fd < 0 && w->printed.fd < 0;
    poll(fds, 2, ending ? NEARLY_GONE_MS : TICK_MS);
}

static void judge(Watch *w)
{
    const double now = clock_seconds();
    if (interrupt_signal()) {
        kill_child(w, CHILD_INTERRUPTED, interrupt_signal());
    } else if (w->task->timeout > 0 && now - w->started > w->task->timeout) {
        kill_child(w, CHILD_TIMED_OUT, 0);
    } else if (w->task->is_over && w->task->is_over(w->task->self)) {
        kill_child(w, CHILD_ENDED, 0);
    }
    if (w->killed && now - w->killed_at > unkillable_after) w->gone = true;
}

static bool has_ended(Watch *w)
{
    struct rusage use;
    if (wait4(w->pid, &w->wait_status, WNOHANG, &use) != w->pid) return false;
    w->cpu_seconds = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                     1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    return true;
}

static void watch(Watch *w)
{
    while (!w->gone) {
        wait_for_news(w);
        w->gone = has_ended(w);
        /* After the wait: what a child wrote before it ended is still in the pipe. */
        read_stream(w, &w->messages);
        read_stream(w, &w->printed);
        if (w->gone) break;
        judge(w);
        if (w->task->tick) w->task->tick(w->task->self);
    }
    kill(-w->pid, SIGKILL); /* what it started must not disturb the next one */
    if (w->task->adopts) orphans_end();
    line_reader_flush(&w->printed.lines, take_printed, w);
}

/* ---- what became of it ---- */

/* At the soft limit the kernel sends SIGXCPU, at the hard one SIGKILL; ulimit -t sets both, and
 * then it is SIGKILL. The ticks that it counts for the limit differ from the time that it reports:
 * 0.83 to 0.91 s at a limit of 1 s were seen. */
static bool is_out_of_cpu_time(const Watch *w, int signal)
{
    static const double enough = 0.5;
    struct rlimit limit;
    if (signal == SIGXCPU) return true;
    if (signal != SIGKILL || getrlimit(RLIMIT_CPU, &limit) != 0) return false;
    return limit.rlim_max != RLIM_INFINITY && w->cpu_seconds > enough * (double)limit.rlim_max;
}

static void describe_signal(Watch *w, int signal)
{
    char *text = w->result->text;
    if (is_out_of_cpu_time(w, signal)) {
        snprintf(text, CHILD_MESSAGE_TEXT,
                 "killed (SIG%s) after %.3g s of CPU time%s by the limit of CPU time: "
                 "ulimit -t shows it and allows more",
                 sigabbrev_np(signal), w->cpu_seconds, signal == SIGKILL ? ", most likely" : "");
        return;
    }
    if (signal == SIGKILL) {
        snprintf(text, CHILD_MESSAGE_TEXT,
                 "killed (SIGKILL) from outside, most likely by the kernel because memory ran out: "
                 "dmesg may say so");
        return;
    }
    const char *name = sigabbrev_np(signal);
    snprintf(text, CHILD_MESSAGE_TEXT, "died of SIG%s (%s)%s%s", name ? name : "?",
             strsignal(signal), w->last_line[0] ? "; last line: " : "", w->last_line);
}

static void describe(Watch *w)
{
    ChildResult *r = w->result;
    if (!w->killed) {
        const bool signalled = WIFSIGNALED(w->wait_status);
        r->end = signalled ? CHILD_SIGNALLED : CHILD_RETURNED;
        r->code = signalled ? WTERMSIG(w->wait_status) : WEXITSTATUS(w->wait_status);
    }
    switch (r->end) {
    case CHILD_RETURNED:
        if (r->code == 0) break;
        snprintf(r->text, sizeof r->text, "ended with exit code %d%s%s", r->code,
                 w->last_line[0] ? "; last line: " : "", w->last_line);
        break;
    case CHILD_SIGNALLED:
        describe_signal(w, r->code);
        break;
    case CHILD_TIMED_OUT:
        snprintf(r->text, sizeof r->text,
                 w->task->timeout < 1000 ? "not done after %.3g s" : "not done after %.0f s",
                 w->task->timeout);
        break;
    case CHILD_FLOODED:
        snprintf(r->text, sizeof r->text, "sent a message of more than %d MiB",
                 CHILD_MAX_MESSAGE >> 20);
        break;
    case CHILD_INTERRUPTED:
        snprintf(r->text, sizeof r->text, "interrupted");
        break;
    case CHILD_ENDED:
        snprintf(r->text, sizeof r->text, "ended");
        break;
    }
}

static Status start(Watch *w)
{
    CLEANUP(close_end) int messages = -1;
    CLEANUP(close_end) int printed = -1;
    TRY(open_pipe(&w->messages.fd, &messages));
    TRY(open_pipe(&w->printed.fd, &printed));
    if (w->task->adopts) orphans_adopt();
    fflush(NULL); /* or the child would write it again */
    const pid_t parent = getpid();
    w->pid = fork();
    if (w->pid < 0) return FAIL(ST_FAILED, "cannot start a process: %s", strerror(errno));
    if (w->pid == 0) run_body(w->task, messages, printed, parent);
    setpgid(w->pid, w->pid); /* here too: whoever comes first */
    return ST_OK;
}

static void free_stream(Stream *stream)
{
    close_end(&stream->fd);
    text_free(&stream->lines.line);
}

Status child_run(const ChildTask *task, ChildResult *result)
{
    *result = (ChildResult){0};
    Watch w = {.task = task,
               .result = result,
               .messages = {-1, {.limit = CHILD_MAX_MESSAGE}},
               .printed = {-1, {.limit = LONGEST_PRINTED}},
               .started = clock_seconds()};
    const Status status = start(&w);
    if (status == ST_OK) {
        watch(&w);
        describe(&w);
    }
    free_stream(&w.messages);
    free_stream(&w.printed);
    return status;
}
