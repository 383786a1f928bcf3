/* Preloaded: rank 1 does not come back from MPI_Finalize. BAD_END says how. */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int MPI_Finalize(void);

int MPI_Finalize(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *how = getenv("BAD_END");
    int (*finalize)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PMPI_Finalize");
    if (rank && strcmp(rank, "1") == 0 && how) {
        if (strcmp(how, "dies") == 0) raise(SIGSEGV);
        if (strcmp(how, "leaves") == 0) _exit(0);
        if (strcmp(how, "hangs") == 0) pause();
    }
    return finalize ? finalize() : 1;
}
