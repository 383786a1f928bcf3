#include "bench/cell/peer.h"

#include "backend/cpu_places.h"
#include "base/error_text.h"
#include "base/human.h"
#include "base/i64.h"
#include "bench/limits/placement.h"
#include "bench/record/record_stat.h"
#include "config/cell_field.h"
#include "config/model_json.h"
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

static const struct {
    Peer peer;
    bool of[SUBJECT_COUNT]; /* of what it can run */
} variants[] = {
    {{"torch", "eager", "eager", "naive"}, {true, true}},
    {{"torch", "compile", "fused", "naive"}, {true, true}},
    {{"torch", "best", "fused", "fused"}, {true, false}},
    {{"torch", "graphs", "graph", "fused"}, {true, false}},
    {{"torch", "efficient", "eager", "flash"}, {false, true}},
    {{"torch", "flash", "eager", "flash"}, {false, true}},
    {{"torch", "cudnn", "eager", "cudnn"}, {false, true}},
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };
_Static_assert((int)N_VARIANTS <= (int)PEER_MAX, "each variant once");

/* Without opening a device, which the process that starts the cells must not do. */
static bool on_gpu(const Config *config)
{
    if (strcmp(config->device, "auto") != 0) return strncmp(config->device, "cuda", 4) == 0;
    return !backend_api(BACKEND_cuda)->absent && access("/dev/nvidiactl", F_OK) == 0;
}

static Status add_variant(Subject subject, const char *name, Peer *peers, int *n)
{
    const char *names[N_VARIANTS + 1] = {0};
    const Peer *known[N_VARIANTS];
    int64_t index = 0;
    for (int i = 0, k = 0; i < N_VARIANTS; i++) {
        if (!variants[i].of[subject]) continue;
        known[k] = &variants[i].peer;
        names[k++] = variants[i].peer.variant;
    }
    TRY(option_value_read_word(name, names, &index));
    for (int i = 0; i < *n; i++) {
        if (strcmp(peers[i].variant, names[index]) == 0) return ST_OK;
    }
    peers[(*n)++] = *known[index];
    return ST_OK;
}

static const char *usual_variants(const Config *config)
{
    if (!on_gpu(config) || config->curve > 0) return "eager"; /* of curves nothing is timed */
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
        char name[32];
        const size_t length = strcspn(word, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        const Status status = add_variant(config->subject, name, peers, n);
        if (status != ST_OK) status_context("--peer-variant");
        if (status != ST_OK || !word[length]) return status;
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

/* Only looks for the module: importing it takes seconds. */
static bool has_torch(const char *python)
{
    char *const argv[] = {
        (char *)python, "-c",
        "import importlib.util as u, sys; sys.exit(0 if u.find_spec('torch') else 1)", NULL};
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int status = -1;
    if (posix_spawn_file_actions_init(&quiet) != 0) return false;
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int failed = posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (failed) return false;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
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

/* Words of a command line, each with the zero byte that ends it. */
static void add_pair(Text *words, const char *name, const char *value)
{
    text_printf(words, "--%s%c%s%c", name, 0, value, 0);
}

/* The text of a config.json: `transformers` makes the model. */
static Status add_model(Text *words, const Config *config)
{
    CLEANUP(text_free) Text json = {0};
    if (config->subject != SUBJECT_MODEL || config->model.architecture == ARCHITECTURE_OWN)
        return ST_OK;
    TRY(model_json_write(&config->model, &json));
    add_pair(words, "model-config", text_str(&json));
    return ST_OK;
}

/* Where the cell runs is settled: the peer is told what the program chose. Ranks share the threads. */
static void add_cell(Text *words, const Config *config, const Placement *placement)
{
    Config placed = placement_settle(config, placement);
    if (config->ranks > 1 && config->threads == 0)
        placed.threads = i64_max(placed.threads / config->ranks, 1);
    if (config->subject == SUBJECT_ATTENTION) add_pair(words, "subject", "attention");
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (cell_field_table[id].peer == CELL_PEER_PASSED && cell_field_of(id, config->subject))
            add_pair(words, option_table[id].name, option_value_text((OptionId)id, &placed).s);
    }
}

/* Returns only when the program cannot be started. */
static void run_words(const Text *words)
{
    char *argv[2 * CELL_FIELD_COUNT + 16];
    int n = 0;
    for (size_t at = 0; at < words->n; at += strlen(argv[n++]) + 1) argv[n] = words->data + at;
    argv[n] = NULL;
    execvp(argv[0], argv);
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

Status peer_run(const Peer *peer, const Config *config, const Record *so_far, PeerWords *more,
                CellLink *link)
{
    const char *blas = record_text(so_far, "blas_path");
    Placement placement;
    const char *python = NULL;
    char folder[PATH_MAX], script[PATH_MAX + 64];
    CLEANUP(text_free) Text words = {0};
    if (config->subject == SUBJECT_ATTENTION && (config->kv_heads > 0 || config->window > 0))
        return FAIL(ST_UNSUPPORTED,
                    "%s's attention alone takes no --kv-heads and no --window: a model that has "
                    "them runs in bench --model",
                    peer->name);
    TRY(place(config, &placement));
    TRY(find_python(&python));
    snprintf(script, sizeof script, "%s/%s_bench.py", script_folder(folder), peer->name);
    if (access(script, R_OK) != 0)
        return FAIL(ST_UNSUPPORTED, "cannot read %s: %s (ROOFSTEP_PEERS names its folder)", script,
                    strerror(errno));
    const int out = dup(link->fd); /* which, unlike that one, stays open in the peer */
    if (out < 0) return FAIL(ST_FAILED, "cannot open a pipe to the peer: %s", error_text(errno));
    /* -Wignore: no advice of its libraries to their users */
    text_printf(&words, "%s%c-Wignore%c%s%c", python, 0, 0, script, 0);
    add_cell(&words, config, &placement);
    TRY(add_model(&words, config));
    add_pair(&words, "variant", peer->variant);
    text_printf(&words, "--messages%c%d%c", 0, out, 0);
    if (blas) add_pair(&words, "libblas", blas);
    if (more) TRY(more(config, &words));
    TRY(text_status(&words));
    cpu_places_unbind();
    run_words(&words);
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
