#include "bench/measure/rank_launch.h"

#include "backend/cpu_places.h"
#include "backend/cpu_threads.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/i64.h"
#include "base/log.h"
#include "bench/measure/rank_report.h"
#include "comm/comm_library.h"
#include "comm/launch_folder.h"
#include "config/cell_field.h"
#include "config/model_file.h"
#include "config/option_value.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Prepared {
    const RankLaunch *launch;
    char folder[PATH_MAX]; /* comm/launch_folder.h; "": none */
} Prepared;

static Prepared current, outer; /* cells of ranks, which may measure links between two of them */

static Launch launch_for(const RankLaunch *launch, int64_t ranks)
{
    return (Launch){.ranks = (int)ranks,
                    .launcher = launch->launcher,
                    .hosts = launch->hosts,
                    .processors = cpu_threads_processors()};
}

static Launch launch_of(int64_t ranks)
{
    return launch_for(current.launch, ranks);
}

Status rank_launch_prepare(const RankLaunch *launch)
{
    CLEANUP(text_free) Text words = {0};
    const MpiEngine *engine;
    const Launch two = launch_for(launch, 2);
    TRY(launcher_words(&words, &two));
    TRY(comm_library(&engine));
    outer = current;
    current = (Prepared){.launch = launch};
    if (!launcher_is_local(&two) || !launch_folder_make(current.folder)) *current.folder = '\0';
    return ST_OK;
}

bool rank_launch_describe(char *text, size_t size)
{
    CLEANUP(text_free) Text words = {0};
    const MpiEngine *engine = NULL;
    char version[MPI_ENGINE_TEXT] = "";
    const bool there =
        launcher_words(&words, &(Launch){.ranks = 2}) == ST_OK && comm_library(&engine) == ST_OK;
    if (there) engine->library_version(version);
    snprintf(text, size, "%s", there ? version : status_message());
    return there;
}

void rank_launch_finish(void)
{
    if (*current.folder) launch_folder_clear(current.folder, true);
    current = outer;
    outer = (Prepared){0};
}

/* ---- the command line of a rank ---- */

static void add(Text *words, const char *word)
{
    text_append(words, word, strlen(word) + 1);
}

/* Results call it so, or with its hash where two of a list have one name. */
static bool is_model(const char *item, const char *name)
{
    ModelSpec spec;
    if (model_file_load(&spec, item) != ST_OK) return false;
    if (strcmp(spec.name, name) == 0) return true;
    model_file_add_hash(&spec);
    return strcmp(spec.name, name) == 0;
}

/* The item of a list of models that the cell is of. */
static void put_model(Text *words, const Config *config, const char *list)
{
    for (const char *at = list; at && *at;) {
        CLEANUP(text_free) Text item = {0};
        const size_t n = strcspn(at, ",");
        text_append(&item, at, n);
        if (is_model(text_str(&item), config->model.name)) {
            text_printf(words, "--model=%s", text_str(&item));
            text_append(words, "", 1);
            return;
        }
        at += n + (at[n] != '\0');
    }
}

/* A model's file and a preset have their dimensions: only those that options have replaced are said. */
static bool is_implied(int id, const Config *config)
{
    const bool file = model_spec_is_file(&config->model);
    if (config->subject != SUBJECT_MODEL || id > OPTION_VOCAB) return false;
    if (id == OPTION_MODEL) return true; /* put_model() */
    if (id == OPTION_SIZE) return file || strcmp(config->model.size, "custom") == 0;
    if (file) return !(config->model.changed >> id & 1);
    return cell_field_table[id].show == CELL_SHOW_CUSTOM &&
           strcmp(config->model.size, "custom") != 0;
}

void rank_launch_options(Text *words, const OptionSet *options, const Config *config,
                         const char *model)
{
    Config usual;
    option_defaults(options, &usual);
    if (model_spec_is_file(&config->model)) put_model(words, config, model);
    for (int i = 0; i < CELL_FIELD_COUNT; i++) {
        const OptionId id = (OptionId)i;
        if (!option_takes(options, i) || is_implied(i, config) ||
            option_value_compare_cells(id, config, &usual) == 0)
            continue;
        text_printf(words, "--%s=", option_table[i].name);
        if (option_table[i].kind == OPTION_KIND_PERCENT)
            text_printf(words, "%.15g%%", 100 * option_value_load(id, config).real);
        else
            text_puts(words, option_value_text(id, config).s);
        text_append(words, "", 1);
    }
}

/* Ranks on one machine share its processors; elsewhere each looks at what it has. */
Config rank_launch_settle(const RankLaunch *launch, const Config *config)
{
    Config settled = *config;
    const Launch how = launch_for(launch, config->ranks);
    if (config->threads == 0 && launcher_is_local(&how))
        settled.threads = i64_max(how.processors / config->ranks, 1);
    return settled;
}

static Status make_words(Text *words, const Config *config)
{
    char program[PATH_MAX];
    const Launch launch = launch_of(config->ranks);
    const Config settled = rank_launch_settle(current.launch, config);
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0) return FAIL(ST_FAILED, "/proc/self/exe: %s", strerror(errno));
    program[n] = '\0';
    TRY(launcher_words(words, &launch));
    add(words, program);
    add(words, RANK_LAUNCH_WORD);
    const RankLaunch *how = current.launch;
    add(words, how->command);
    rank_launch_options(words, how->options, &settled, how->model);
    if (how->share_gpu) add(words, "--share-gpu");
    for (const char *const *word = how->words; word && *word; word++) add(words, *word);
    return text_status(words);
}

/* ---- the launcher ---- */

typedef struct Ranks {
    const Config *config;
    CellLink *link;
    Text words;
    RankReport *reports; /* of ranks that did not end well */
    int n;
    double reported_at; /* the first of them */
    int well;           /* number of ranks that are through, and all is well */
    double well_at;     /* the last of them */
    Text end;           /* rank 0's last message, until all are through */
} Ranks;

static void ranks_free(Ranks *ranks)
{
    text_free(&ranks->words);
    text_free(&ranks->end);
    free(ranks->reports);
}

/* In the child, which becomes the launcher. Rank 0's stdout is the launcher's. */
static int become_launcher(void *arg, int out)
{
    const Ranks *ranks = arg;
    const Launch launch = launch_of(ranks->config->ranks);
    CLEANUP(array_free) char **argv = NULL;
    size_t n = 0;
    for (size_t at = 0; at < ranks->words.n; n++) {
        if (array_grow(&argv, n, 2, sizeof *argv) != ST_OK) return 1;
        argv[n] = ranks->words.data + at;
        argv[n + 1] = NULL;
        at += strlen(argv[n]) + 1;
    }
    launcher_environment(&launch);
    if (*current.folder) launch_folder_use(current.folder);
    cpu_places_unbind();
    if (dup2(out, STDOUT_FILENO) < 0) return 1;
    execvp(argv[0], argv);
    log_error("cannot start %s: %s", argv[0], strerror(errno));
    return 1;
}

static void on_message(void *self, const char *line, size_t length)
{
    Ranks *ranks = self;
    static const char end[] = "{\"end\"";
    if (length == 0 || line[0] != '{') { /* the launcher's own words */
        log_line(line);
        return;
    }
    Text *to = &ranks->end;
    text_append(to, line, length);
    text_puts(to, "\n");
    if (strncmp(line, end, strlen(end)) == 0) return;
    (void)child_write(ranks->link->fd, text_str(to), to->n);
    text_clear(to);
}

static void take_report(Ranks *ranks, const RankReport *report)
{
    if (report->status == RECORD_OK) {
        ranks->well++;
        ranks->well_at = clock_seconds();
        return;
    }
    if (ranks->n == ranks->config->ranks) return;
    if (ranks->n == 0) ranks->reported_at = clock_seconds();
    ranks->reports[ranks->n++] = *report;
}

static void on_printed(void *self, const char *line)
{
    Ranks *ranks = self;
    RankReport report;
    if (rank_report_read(line, &report)) {
        take_report(ranks, &report);
        return;
    }
    if (ranks->n > 0 || ranks->well > 0) return; /* the launcher tells of it, too; or MPI ends */
    log_line(line);
}

/* The cell is done, however MPI and the launcher end. */
static bool is_complete(const Ranks *ranks)
{
    return ranks->well >= ranks->config->ranks && ranks->end.n > 0;
}

/* The ranks do not fail in the same moment, and late ones did not begin in the same. */
static bool is_over(void *self)
{
    static const double for_failures = 0.1, for_late = 1, for_end = 2; /* seconds */
    const Ranks *ranks = self;
    if (is_complete(ranks)) return clock_seconds() - ranks->well_at > for_end;
    if (ranks->n == 0) return false;
    const double most = ranks->reports[0].status == RECORD_TIMEOUT ? for_late : for_failures;
    return ranks->n == ranks->config->ranks || clock_seconds() - ranks->reported_at > most;
}

/* ---- what became of it ---- */

static Status tell_end(Ranks *ranks, const ChildResult *end)
{
    char text[RANK_REPORT_TEXT];
    const bool returned = end->end == CHILD_RETURNED && end->code == 0 && ranks->end.n > 0;
    if (is_complete(ranks) || (ranks->n == 0 && returned)) {
        if (child_write(ranks->link->fd, text_str(&ranks->end), ranks->end.n)) return ST_OK;
        return FAIL(ST_FAILED, "the process that started this cell is gone");
    }
    if (ranks->n > 0 || end->end == CHILD_TIMED_OUT) {
        const RecordStatus status = rank_report_judge(
            ranks->reports, ranks->n, (int)ranks->config->ranks, ranks->config->timeout, text);
        return cell_link_end(ranks->link, status, text);
    }
    const RecordStatus status =
        end->end == CHILD_RETURNED ? RECORD_FAILED : cell_link_status_of(end);
    const bool killed = end->end == CHILD_RETURNED && end->code == 128 + SIGKILL; /* a rank was */
    snprintf(text, sizeof text, "the program that starts ranks: %.900s",
             end->text[0] ? end->text : "ended without a result");
    return cell_link_end(ranks->link, killed ? RECORD_KILLED : status, text);
}

Status rank_launch_run(const Config *config, CellLink *link)
{
    static const double for_reports = 5; /* seconds: ranks that are late say so themselves */
    CLEANUP(ranks_free) Ranks ranks = {.config = config, .link = link};
    ChildResult end;
    TRY(make_words(&ranks.words, config));
    ranks.reports = calloc((size_t)config->ranks, sizeof *ranks.reports);
    if (!ranks.reports) return NO_MEMORY("for %d ranks", (int)config->ranks);
    const ChildTask task = {.body = become_launcher,
                            .arg = &ranks,
                            .timeout = config->timeout + for_reports,
                            .self = &ranks,
                            .message = on_message,
                            .printed = on_printed,
                            .is_over = is_over,
                            .adopts = true};
    if (*current.folder) launch_folder_clear(current.folder, false);
    TRY(child_run(&task, &end));
    return tell_end(&ranks, &end);
}
