/* How the ranks of a cell are started: mpirun, or srun inside a Slurm allocation, or what the user says. */
#pragma once

#include "base/text.h"

typedef struct Launch {
    int ranks;
    const char *launcher; /* --launcher: a program and words for it; NULL: srun or mpirun */
    const char *hosts;    /* --hosts: a file of machines; NULL: this one */
    int processors;       /* that this process may use */
} Launch;

/* The words before the program that shall run, each with the zero byte that ends it.
 * ST_UNSUPPORTED: there is no launcher, and what to install; ST_USAGE: the file of hosts cannot
 * be read. */
Status launcher_words(Text *words, const Launch *launch);
/* What launchers and MPI read from the environment, in the process that becomes the launcher:
 * may be started by root, bind nothing (ranks do that themselves), leave the processor when more
 * ranks than processors wait. */
void launcher_environment(const Launch *launch);
/* All ranks run on this machine, as far as can be told. */
bool launcher_is_local(const Launch *launch);
/* The rank that a launcher made of this process; -1: none did. */
int launcher_rank(void);
/* The place of a program in PATH; false: there is none. */
bool launcher_find(const char *name);
