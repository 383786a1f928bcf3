#include "bench/cell/peer.h"

#include "backend/cpu_places.h"
#include "base/error_text.h"
#include "base/human.h"
#include "base/suggest.h"
#include "bench/limits/placement.h"
#include "bench/record/record_stat.h"
#include "config/cell_field.h"
#include "config/option_value.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- which ---- */

typedef struct Variant {
    const char *name, *exec, *attention;
    bool of[SUBJECT_COUNT]; /* of what it can run */
} Variant;

static const Variant variants[] = {
    {"eager", "eager", "naive", {true, true}},      {"compile", "fused", "naive", {true, true}},
    {"best", "fused", "fused", {true, false}},      {"graphs", "graph", "fused", {true, false}},
    {"efficient", "eager", "flash", {false, true}}, {"flash", "eager", "flash", {false, true}},
    {"cudnn", "eager", "cudnn", {false, true}},
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };
_Static_assert((int)N_VARIANTS <= (int)PEER_MAX, "each variant once");

/* Without opening a device, which the process that starts the cells must not do. */
static bool on_gpu(const Config *config)
{
    if (strcmp(config->device, "auto") != 0) return strncmp(config->device, "cuda", 4) == 0;
    return !backend_api(BACKEND_cuda)->absent && access("/dev/nvidiactl", F_OK) == 0;
}

static Status no_variant(Subject subject, const char *name)
{
    const char *names[N_VARIANTS];
    char list[128] = "";
    int n = 0;
    for (int i = 0; i < N_VARIANTS; i++) {
        if (!variants[i].of[subject]) continue;
        const size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", n ? ", " : "", variants[i].name);
        names[n++] = variants[i].name;
    }
    const char *near = suggest_word(name, names, n);
    return FAIL(ST_USAGE, "--peer-variant: %s is not one of %s%s%s%s", human_quote(name).s, list,
                near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

static Status add_variant(const char *peer, Subject subject, const char *word, size_t length,
                          Peer *peers, int *n)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (int i = 0; i < *n; i++) {
        if (strcmp(peers[i].variant, name) == 0) return ST_OK;
    }
    for (int i = 0; i < N_VARIANTS; i++) {
        const Variant *v = &variants[i];
        if (!v->of[subject] || strcmp(v->name, name) != 0) continue;
        peers[(*n)++] = (Peer){peer, v->name, v->exec, v->attention};
        return ST_OK;
    }
    return no_variant(subject, name);
}

static const char *usual_variants(const Config *config)
{
    if (!on_gpu(config)) return "eager";
    return config->subject == SUBJECT_ATTENTION ? "compile,efficient,flash,cudnn" : "best,graphs";
}

Status peer_list(const PeerChoice *choice, const Config *config, Peer peers[PEER_MAX], int *n)
{
    *n = 0;
    if (!choice->name) return ST_OK;
    if (strcmp(choice->name, "torch") != 0)
        return FAIL(ST_USAGE, "--peer: %s is not torch, the only one there is",
                    human_quote(choice->name).s);
    const char *word = choice->variants ? choice->variants : usual_variants(config);
    for (;;) {
        const size_t length = strcspn(word, ",");
        TRY(add_variant(choice->name, config->subject, word, length, peers, n));
        if (!word[length]) return ST_OK;
        word += length + 1;
    }
}

/* ---- how to start it ---- */

/* Beside an installed program, wherever that was moved; otherwise where the sources are. */
static const char *script_folder(char installed[PATH_MAX])
{
    static const char place[] = "../share/roofstep/peers";
    const char *own = getenv("ROOFSTEP_PEERS");
    if (own && *own) return own;
    const ssize_t n = readlink("/proc/self/exe", installed, PATH_MAX - sizeof place);
    if (n <= 0) return ROOFSTEP_PEERS;
    installed[n] = 0;
    char *slash = strrchr(installed, '/');
    if (!slash) return ROOFSTEP_PEERS;
    strcpy(slash + 1, place);
    return access(installed, F_OK) == 0 ? installed : ROOFSTEP_PEERS;
}

/* The exit code of a program that is given nothing and not listened to; -1 when it has none. */
static int exit_code_of(char *const argv[])
{
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int status = -1;
    if (posix_spawn_file_actions_init(&quiet) != 0) return -1;
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int failed = posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (failed) return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Only looks for the module: importing it takes seconds. */
static bool has_torch(const char *python)
{
    char *const argv[] = {
        (char *)python, "-c",
        "import importlib.util as u, sys; sys.exit(0 if u.find_spec('torch') else 1)", NULL};
    return exit_code_of(argv) == 0;
}

static Status find_python(const char **out)
{
    const char *own = getenv("PYTHON");
    const char *const places[] = {own, "python3", "/usr/bin/python3"};
    const int first = own && *own ? 0 : 1, end = own && *own ? 1 : 3;
    for (int i = first; i < end; i++) {
        *out = places[i];
        if (has_torch(*out)) return ST_OK;
    }
    return FAIL(ST_UNSUPPORTED, "no PyTorch here: %s %s (pip install torch, or PYTHON=...)",
                first == 0 ? own : "python3 and /usr/bin/python3",
                first == 0 ? "does not have it" : "do not have it");
}

enum { MOST_WORDS = 2 * CELL_FIELD_COUNT + 16 };

typedef struct Words {
    char *argv[MOST_WORDS];
    ConfigText text[MOST_WORDS];
    int n;
} Words;

static void add(Words *w, const char *word)
{
    w->argv[w->n++] = (char *)word;
}

/* The words of `argv` stay where they are. */
static void add_pair(Words *w, const char *name, ConfigText value)
{
    ConfigText *texts = &w->text[w->n];
    snprintf(texts[0].s, sizeof texts[0].s, "--%s", name);
    texts[1] = value;
    add(w, texts[0].s);
    add(w, texts[1].s);
}

static ConfigText number_text(int number)
{
    ConfigText text;
    snprintf(text.s, sizeof text.s, "%d", number);
    return text;
}

/* Where the cell runs is settled: the peer is told what the program chose. */
static void add_cell(Words *w, const Config *config, const Placement *placement)
{
    const Config placed = placement_settle(config, placement);
    if (config->subject == SUBJECT_ATTENTION) add_pair(w, "subject", (ConfigText){"attention"});
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (cell_field_table[id].peer == CELL_PEER_PASSED && cell_field_of(id, config->subject))
            add_pair(w, option_table[id].name, option_value_text((OptionId)id, &placed));
    }
}

/* It computes with the threads that it is told of, as ours does (backend/cpu_threads.h): a GPU need
 * not be one that this build can use. */
static Status place(const Config *config, Placement *placement)
{
    static const char *const changes_threads[] = {"OMP_DYNAMIC", "OMP_NESTED",
                                                  "OMP_MAX_ACTIVE_LEVELS"};
    for (size_t i = 0; i < sizeof changes_threads / sizeof *changes_threads; i++)
        unsetenv(changes_threads[i]);
    TRY(placement_of(config, placement));
    return placement->backend == BACKEND_cpu ? placement_find(config, placement) : ST_OK;
}

Status peer_run(const Peer *peer, const Config *config, const Record *so_far, CellLink *link)
{
    const char *blas = record_text(so_far, "blas_path");
    Placement placement;
    const char *python = NULL;
    char folder[PATH_MAX], script[PATH_MAX + 64];
    Words words = {0};
    TRY(place(config, &placement));
    TRY(find_python(&python));
    snprintf(script, sizeof script, "%s/%s_bench.py", script_folder(folder), peer->name);
    if (access(script, R_OK) != 0)
        return FAIL(ST_UNSUPPORTED, "cannot read %s: %s (ROOFSTEP_PEERS names its folder)", script,
                    strerror(errno));
    const int out = dup(link->fd); /* which, unlike that one, stays open in the peer */
    if (out < 0) return FAIL(ST_FAILED, "cannot open a pipe to the peer: %s", error_text(errno));
    add(&words, python);
    add(&words, "-Wignore"); /* its libraries' advice to their users */
    add(&words, script);
    add_cell(&words, config, &placement);
    add(&words, "--variant");
    add(&words, peer->variant);
    add_pair(&words, "messages", number_text(out));
    if (blas) {
        add(&words, "--libblas");
        add(&words, blas);
    }
    cpu_places_unbind();
    execvp(python, words.argv);
    return FAIL(ST_UNSUPPORTED, "cannot start %s: %s", python, strerror(errno));
}

/* ---- its record ---- */

/* Its own choice, whatever ours was asked for. */
static bool is_own(const RecordKeyPart *part)
{
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (cell_field_table[id].peer == CELL_PEER_OWN &&
            record_key_names(part, cell_field_table[id].name))
            return true;
    }
    return false;
}

static Status put_key(Record *r, const Peer *peer)
{
    CLEANUP(text_free) Text key = {0};
    RecordKeyPart part = {record_key(r), 0, 0};
    text_printf(&key, "peer=%s variant=%s", peer->name, peer->variant);
    while (record_key_next(&part)) {
        if (!is_own(&part)) text_printf(&key, " %.*s", (int)part.length, part.text);
    }
    TRY(text_status(&key));
    return record_put_text(r, "cell", text_str(&key));
}

static Status put_peer(Record *r, const Peer *peer)
{
    TRY(put_key(r, peer));
    TRY(record_put_text(r, "exec", peer->exec));
    TRY(record_put_text(r, "attention", peer->attention));
    TRY(record_put_null(r, "blas"));
    if (record_text(r, "recompute"))
        TRY(record_put_text(r, "recompute", "none")); /* it keeps all */
    TRY(record_put_text(r, "peer", peer->name));
    return record_put_text(r, "variant", peer->variant);
}

Status peer_record_new(Record **out, const Peer *peer, const Config *config)
{
    TRY(record_new(out, config));
    const Status status = put_peer(*out, peer);
    if (status == ST_OK) return ST_OK;
    json_decref(*out);
    *out = NULL;
    return status;
}

static bool step_of(const Record *r, double *ms)
{
    return record_status(r) == RECORD_OK && record_stat_ms(r, "step", ms) && *ms > 0;
}

Status peer_judge(Record *ours, Record *const *theirs, int n)
{
    const Record *best = NULL;
    double own = 0, least = 0, ms = 0;
    for (int i = 0; i < n; i++) {
        if (!step_of(theirs[i], &ms) || (best && ms >= least)) continue;
        best = theirs[i];
        least = ms;
    }
    if (!best || !step_of(ours, &own)) return ST_OK;
    TRY(record_put_text(ours, "peer_best", record_text(best, "variant")));
    return record_put_number(ours, "peer_ratio", least / own);
}
