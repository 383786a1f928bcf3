#include "cli/program_version.h"

#include <stdio.h>
#include <string.h>

/* A command that prints the version.
 *
 * Importing PyTorch would take seconds; its package knows the version. Debian's PyTorch belongs to Debian's
 * Python, which may not be the first on the path. */
static const char *const version_commands[PROGRAMS] = {
    [NVCC] = "PATH=$PATH:/usr/local/cuda/bin nvcc --version | "
             "sed -n \"s/.*release \\([0-9.]*\\).*/\\1/p\"",
    [TORCH] = "for python in python3 /usr/bin/python3; do $python -c \"import importlib.util "
              "as u, importlib.metadata as m; assert u.find_spec(\\\"torch\\\"); "
              "print(m.version(\\\"torch\\\"))\" && exit 0; done; exit 1",
    [NODE] = "node --version && npm --version >/dev/null",
    [SQLITE] = "sqlite3 --version | cut -d\" \" -f1"};

/* The first line that its command prints, unless it fails. */
ProgramVersion program_version(Program program)
{
    char line[512];
    ProgramVersion version = {""};
    snprintf(line, sizeof line, "exec timeout 10 sh -c '%s' 2>/dev/null </dev/null",
             version_commands[program]);
    FILE *pipe = popen(line, "re");
    if (!pipe) return version;
    if (!fgets(version.s, sizeof version.s, pipe)) version.s[0] = '\0';
    if (pclose(pipe) != 0) version.s[0] = '\0';
    version.s[strcspn(version.s, "\n")] = '\0';
    return version;
}
