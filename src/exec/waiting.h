/* How long a thread that has nothing to do waits awake.
 *
 * libgomp lets it spin 300,000 turns: 18 ms on x86-64, where a turn's pause takes some 60 ns, and 0.24 ms on a Neoverse V1.
 * Where other programs want the processors too, that is taken from the thread it waits for, and a step takes
 * longer, several times as long on x86-64. The library reads its setting before main() begins. */
#ifndef EXEC_WAITING_H
#define EXEC_WAITING_H

/* Starts the program again with a shorter spin, unless the user has chosen one
 * (OMP_WAIT_POLICY or GOMP_SPINCOUNT). Returns when it was started so, has nothing to change, or cannot. */
void waiting_restart(char **argv);

#endif
