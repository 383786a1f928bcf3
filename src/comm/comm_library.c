#include "comm/comm_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INSTALL "on Debian and Ubuntu: apt-get install libopenmpi-dev openmpi-bin"

/* The folder of this program, without the last slash. */
static bool own_folder(char folder[PATH_MAX])
{
    const ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (n <= 0) return false;
    folder[n] = '\0';
    char *slash = strrchr(folder, '/');
    if (!slash) return false;
    *slash = '\0';
    return true;
}

/* The first of the two places that has it; false: neither. */
static bool find_file(char path[PATH_MAX + 64])
{
    static const char *const places[] = {"", "/../" ROOFSTEP_LIBRARIES};
    char folder[PATH_MAX];
    if (!own_folder(folder)) return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, PATH_MAX + 64, "%s%s/roofstep_mpi.so", folder, places[i]);
        if (access(path, R_OK) == 0) return true;
    }
    return false;
}

/* Its symbols are global: those of roofstep_mpi.so and of parts that MPI opens later are found there. */
static Status open_mpi(void)
{
    static const char *const names[] = {ROOFSTEP_MPI_NAMES};
    const char *why = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (dlopen(names[i], RTLD_NOW | RTLD_GLOBAL)) return ST_OK;
        if (i == 0) why = dlerror();
    }
    return FAIL(ST_UNSUPPORTED, "several ranks need MPI, which cannot be loaded (%s); " INSTALL,
                why ? why : "no reason given");
}

static Status open_file(const char *path, const MpiEngine **out)
{
    void *library = dlopen(path, RTLD_NOW);
    const char *why = library ? NULL : dlerror();
    if (!library)
        return FAIL(ST_UNSUPPORTED,
                    "several ranks need %s, which cannot be loaded (%s): build or "
                    "install this program again",
                    path, why ? why : "no reason given");
    *out = dlsym(library, MPI_ENGINE_SYMBOL);
    if (!*out || (*out)->version != MPI_ENGINE_VERSION) {
        *out = NULL;
        return FAIL(ST_UNSUPPORTED,
                    "%s is of another version of this program: build or install "
                    "both again",
                    path);
    }
    return ST_OK;
}

Status comm_library(const MpiEngine **out)
{
    static const MpiEngine *known;
    char path[PATH_MAX + 64];
    if (!known) {
        if (!find_file(path))
            return FAIL(ST_UNSUPPORTED, "several ranks need MPI, and this program was built "
                                        "without it; " INSTALL ", then build again");
        TRY(open_mpi());
        TRY(open_file(path, &known));
    }
    *out = known;
    return ST_OK;
}
