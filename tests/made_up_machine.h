/* Another machine, shown as a directory with its /proc and /sys. */
#pragma once

#include "with_cmocka.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char machine[64]; /* root of the machine that is shown */

/* Writes a file of it, and the folders above. */
static inline void put(const char *path, const char *text)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s%s", machine, path);
    for (char *c = full + strlen(machine) + 1; *c; c++) {
        if (*c != '/') continue;
        *c = '\0';
        mkdir(full, 0700);
        *c = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline int new_empty_machine(void **state)
{
    (void)state;
    snprintf(machine, sizeof machine, "/tmp/roofstep_machine.XXXXXX");
    return mkdtemp(machine) ? 0 : -1;
}

static inline int drop_machine(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", machine);
    return system(command);
}
