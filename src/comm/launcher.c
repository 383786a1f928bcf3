#include "comm/launcher.h"

#include "base/human.h"
#include "base/parse.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool launcher_find(const char *name)
{
    const char *at = getenv("PATH");
    char path[PATH_MAX];
    if (strchr(name, '/')) return access(name, X_OK) == 0;
    for (size_t n = 0; at && *at; at += n + (at[n] == ':')) {
        n = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)n, at, name);
        if (n > 0 && access(path, X_OK) == 0) return true;
    }
    return false;
}

static bool in_slurm(void)
{
    const char *job = getenv("SLURM_JOB_ID");
    return job && *job && launcher_find("srun");
}

static void add(Text *words, const char *word)
{
    text_append(words, word, strlen(word) + 1);
}

/* Blanks are between words. */
static Status add_own(Text *words, const char *line)
{
    const size_t before = words->n;
    for (size_t n = 0; *line; line += n) {
        line += strspn(line, " \t");
        n = strcspn(line, " \t");
        if (n == 0) break;
        text_append(words, line, n);
        text_append(words, "", 1);
    }
    TRY(text_status(words));
    if (words->n == before) return FAIL(ST_USAGE, "--launcher: no program is named");
    if (!launcher_find(words->data + before))
        return FAIL(ST_USAGE, "--launcher: there is no program %s",
                    human_quote(words->data + before).s);
    return ST_OK;
}

static Status add_usual(Text *words)
{
    if (in_slurm()) {
        add(words, "srun");
        add(words, "--cpu-bind=none");
        add(words, "--kill-on-bad-exit=1");
        return ST_OK;
    }
    if (!launcher_find("mpirun"))
        return FAIL(ST_UNSUPPORTED, "several ranks need MPI, and there is no mpirun; on Debian and "
                                    "Ubuntu: apt-get install libopenmpi-dev openmpi-bin");
    add(words, "mpirun");
    return ST_OK;
}

/* Open MPI, MPICH and their relatives know these options; srun has its own list of hosts. */
Status launcher_words(Text *words, const Launch *launch)
{
    char number[16];
    TRY(launch->launcher ? add_own(words, launch->launcher) : add_usual(words));
    snprintf(number, sizeof number, "%d", launch->ranks);
    add(words, "-n");
    add(words, number);
    if (launch->hosts) {
        if (access(launch->hosts, R_OK) != 0)
            return FAIL(ST_USAGE, "--hosts %s: %s", launch->hosts, strerror(errno));
        add(words, !launch->launcher && in_slurm() ? "--nodefile" : "-machinefile");
        add(words, launch->hosts);
    }
    return text_status(words);
}

void launcher_environment(const Launch *launch)
{
    static const struct {
        const char *name, *value;
        bool oversubscribed; /* where there are more ranks than processors only */
    } settings[] = {
        /* Open MPI 4, then 5. Other implementations read none of these. */
        {"OMPI_ALLOW_RUN_AS_ROOT", "1", false},
        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", false},
        {"OMPI_MCA_hwloc_base_binding_policy", "none", false},
        {"OMPI_MCA_rmaps_base_oversubscribe", "1", false},
        {"OMPI_MCA_mpi_yield_when_idle", "1", true},
        {"PRTE_ALLOW_RUN_AS_ROOT", "1", false},
        {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1", false},
        {"PRTE_MCA_hwloc_default_binding_policy", "none", false},
        {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", false},
    };
    const bool oversubscribed = !launch->hosts && launch->ranks > launch->processors;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (oversubscribed || !settings[i].oversubscribed)
            setenv(settings[i].name, settings[i].value, 0);
    }
}

bool launcher_is_local(const Launch *launch)
{
    return !launch->hosts && !launch->launcher && !in_slurm();
}

int launcher_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        int64_t rank = -1;
        if (text && parse_int(text, &rank) == ST_OK && rank >= 0 && rank <= INT_MAX)
            return (int)rank;
    }
    return -1;
}
