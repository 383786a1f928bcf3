#include "cli/commands/doctor_probe.h"

#include <stdio.h>
#include <string.h>

/* The first line a command prints. A driver or an interpreter that hangs is given up after 10 s. */
static DoctorProbe first_line(const char *command)
{
    DoctorProbe probe = {0};
    char line[512];
    snprintf(line, sizeof line, "exec timeout 10 sh -c '%s' 2>/dev/null </dev/null", command);
    FILE *pipe = popen(line, "re");
    if (!pipe) return probe;
    if (!fgets(probe.text, sizeof probe.text, pipe)) probe.text[0] = '\0';
    probe.there = pclose(pipe) == 0 && *probe.text != '\0';
    probe.text[strcspn(probe.text, "\n")] = '\0';
    if (!probe.there) probe.text[0] = '\0';
    return probe;
}

DoctorProbe doctor_probe_nvcc(void)
{
    return first_line("PATH=$PATH:/usr/local/cuda/bin nvcc --version | "
                      "sed -n \"s/.*release \\([0-9.]*\\).*/\\1/p\"");
}

/* Importing it would take seconds; its package knows the version. Debian's PyTorch belongs to
 * Debian's Python, which may not be the first on the path. */
DoctorProbe doctor_probe_torch(void)
{
    return first_line(
        "for python in python3 /usr/bin/python3; do $python -c \"import importlib.util "
        "as u, importlib.metadata as m; assert u.find_spec(\\\"torch\\\"); "
        "print(m.version(\\\"torch\\\"))\" && exit 0; done; exit 1");
}

DoctorProbe doctor_probe_node(void)
{
    return first_line("node --version && npm --version >/dev/null");
}

DoctorProbe doctor_probe_sqlite(void)
{
    return first_line("sqlite3 --version | cut -d\" \" -f1");
}
