#include "comm/launch_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *place(void)
{
    const char *own = getenv("TMPDIR");
    if (access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm";
    return own && *own ? own : "/tmp";
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info, (void)kind;
    if (at->level > 0) (void)remove(path);
    return 0;
}

void launch_folder_clear(const char *path, bool itself)
{
    enum { MOST_OPEN = 16 };
    (void)nftw(path, remove_entry, MOST_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    if (itself) (void)rmdir(path);
}

/* Of this user, and of a process that is gone. */
static bool is_stale(const char *folder, const char *name)
{
    int pid = 0;
    struct stat info;
    char path[PATH_MAX];
    if (sscanf(name, "roofstep-ranks-%d-", &pid) != 1 || pid <= 0) return false;
    if (kill(pid, 0) == 0 || errno != ESRCH) return false;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

static void remove_stale(const char *folder)
{
    char path[PATH_MAX];
    DIR *entries = opendir(folder);
    if (!entries) return;
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (!is_stale(folder, entry->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        launch_folder_clear(path, true);
    }
    closedir(entries);
}

bool launch_folder_make(char path[PATH_MAX])
{
    remove_stale(place());
    snprintf(path, PATH_MAX, "%s/roofstep-ranks-%d-XXXXXX", place(), (int)getpid());
    return mkdtemp(path) != NULL;
}

/* Open MPI 4 and 5 keep shared memory apart from other files. */
void launch_folder_use(const char *path)
{
    static const char *const names[] = {"TMPDIR", "OMPI_MCA_btl_vader_backing_directory",
                                        "OMPI_MCA_btl_sm_backing_directory",
                                        "OMPI_MCA_osc_sm_backing_directory"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) setenv(names[i], path, 1);
}
