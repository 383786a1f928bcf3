#include "bench/measure/orphans.h"

#include "base/clock.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void orphans_adopt(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The parent of a process, from "4711 (its name) S 4710 ..."; 0: it is gone. */
static pid_t parent_of(const char *number)
{
    char path[64], text[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", number);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    const size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *name_end = strrchr(text, ')');
    if (!name_end || sscanf(name_end, ") %*c %d", &parent) != 1) return 0;
    return parent;
}

static void kill_children(void)
{
    DIR *processes = opendir("/proc");
    if (!processes) return;
    for (struct dirent *entry; (entry = readdir(processes));) {
        const long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0 && parent_of(entry->d_name) == getpid()) kill((pid_t)pid, SIGKILL);
    }
    closedir(processes);
}

/* A child that was waiting for one of its own leaves it to us as it goes: hence the rounds. */
void orphans_end(void)
{
    static const double unkillable_after = 30; /* seconds: stuck in a driver */
    const double begun = clock_seconds();
    while (clock_seconds() - begun < unkillable_after) {
        const pid_t gone = waitpid(-1, NULL, WNOHANG);
        if (gone < 0) return; /* no child is left */
        if (gone > 0) continue;
        kill_children();
        usleep(1000);
    }
}
