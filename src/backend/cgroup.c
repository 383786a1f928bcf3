#include "backend/cgroup.h"

#include "backend/proc_text.h"
#include "base/i64.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 65536 };

/* A group as a directory: `path` begins with the hierarchy's mount point, `top` bytes long. */
typedef struct Group {
    char path[PATH_MAX];
    size_t top;
    bool v2;
} Group;

/* /proc/self/cgroup: "4:memory:/some/group", or "0::/some/group" for version 2 (controller ""). */
static bool own_path(const char *text, const char *controller, char *path, size_t size)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *names = strchr(line, ':');
        const char *group = names ? strchr(names + 1, ':') : NULL;
        if (!group) return false;
        char list[PROC_TEXT_LINE];
        snprintf(list, sizeof list, "%.*s", (int)(group - names - 1), names + 1);
        if (*controller ? !proc_text_has_word(list, controller) : *list != '\0') continue;
        snprintf(path, size, "%.*s", (int)strcspn(group + 1, "\n"), group + 1);
        return true;
    }
    return false;
}

/* One line of /proc/self/mountinfo: "id parent dev ROOT MOUNT options ... - TYPE source SUPER". */
static bool mount_matches(const char *line, const char *controller, char *root, char *mount)
{
    char type[32], super[PROC_TEXT_LINE];
    const char *tail = strstr(line, " - ");
    if (!tail || sscanf(line, "%*s %*s %*s %1023s %1023s", root, mount) != 2) return false;
    if (sscanf(tail, " - %31s %*s %255s", type, super) != 2) return false;
    if (!*controller) return strcmp(type, "cgroup2") == 0;
    return strcmp(type, "cgroup") == 0 && proc_text_has_word(super, controller);
}

/* `controller` is "" for the version 2 hierarchy. */
static bool find_group(const char *root, const char *controller, Group *group)
{
    static _Thread_local char text[TEXT];
    char own[1024], mount_root[1024], mount[1024];
    if (!proc_text_read(text, sizeof text, root, "/proc/self/cgroup")) return false;
    if (!own_path(text, controller, own, sizeof own)) return false;
    if (!proc_text_read(text, sizeof text, root, "/proc/self/mountinfo")) return false;
    for (const char *line = text; *line;) {
        char one[4096];
        const size_t length = strcspn(line, "\n");
        snprintf(one, sizeof one, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
        if (!mount_matches(one, controller, mount_root, mount)) continue;
        /* In a container the mount may show a subtree only, or the path may be the host's. */
        const size_t skip = strcmp(mount_root, "/") == 0 ? 0 : strlen(mount_root);
        const bool inside = strncmp(own, mount_root, skip) == 0;
        const char *below = inside && strcmp(own, "/") != 0 ? own + skip : "";
        group->top = strlen(mount);
        group->v2 = !*controller;
        const int n = snprintf(group->path, sizeof group->path, "%s%s", mount, below);
        return n > 0 && (size_t)n < sizeof group->path;
    }
    return false;
}

/* Steps to the parent; false at the top. */
static bool ascend(Group *group)
{
    char *slash = strrchr(group->path, '/');
    if (!slash || strlen(group->path) <= group->top) return false;
    *slash = '\0';
    return strlen(group->path) >= group->top;
}

/* A negative number, or a word, stands for no limit. */
static bool number_in(const char *root, const Group *group, const char *file, int64_t *value)
{
    char text[64];
    int64_t number;
    if (!proc_text_read(text, sizeof text, root, "%s/%s", group->path, file) ||
        !proc_text_number(text, &number) || number < 0)
        return false;
    *value = number;
    return true;
}

static int64_t stat_of(const char *root, const Group *group, const char *key)
{
    char text[8192], value[32];
    proc_text_read(text, sizeof text, root, "%s/memory.stat", group->path);
    return proc_text_field(text, key, value, sizeof value) ? i64_max(strtoll(value, NULL, 10), 0)
                                                           : 0;
}

static bool memory_of(const char *root, const Group *group, CgroupMemory *out)
{
    int64_t limit = 0, high = 0;
    const char *limit_file = group->v2 ? "memory.max" : "memory.limit_in_bytes";
    const char *usage_file = group->v2 ? "memory.current" : "memory.usage_in_bytes";
    const char *cache = group->v2 ? "inactive_file" : "total_inactive_file";
    bool limited = number_in(root, group, limit_file, &limit);
    if (group->v2 && number_in(root, group, "memory.high", &high)) {
        limit = limited ? i64_min(limit, high) : high;
        limited = true;
    }
    /* Version 1 writes "no limit" as the largest multiple of the page size. */
    if (!limited || limit > INT64_MAX / 2) return false;
    *out = (CgroupMemory){.limited = true, .limit = limit};
    if (number_in(root, group, usage_file, &out->used)) {
        const int64_t inactive = stat_of(root, group, cache);
        out->used -= i64_min(inactive, out->used);
    }
    return true;
}

/* Calls `look` for every group from the process's own up, in the hierarchies of both versions. */
static void visit_groups(const char *root, const char *controller,
                         void (*look)(const char *root, const Group *group, void *best), void *best)
{
    const char *const controllers[] = {controller, ""};
    for (int i = 0; i < 2; i++) {
        Group group;
        bool there = find_group(root, controllers[i], &group);
        for (; there; there = ascend(&group)) look(root, &group, best);
    }
}

static void tighten_memory(const char *root, const Group *group, void *best)
{
    CgroupMemory *least = best, here;
    if (!memory_of(root, group, &here)) return;
    const bool tighter = here.limit - here.used < least->limit - least->used;
    if (!least->limited || tighter) *least = here;
}

CgroupMemory cgroup_memory(const char *root)
{
    CgroupMemory best = {0};
    visit_groups(root, "memory", tighten_memory, &best);
    return best;
}

static void tighten_quota(const char *root, const Group *group, void *best)
{
    char text[64];
    int64_t quota = 0, period = 0;
    double *least = best;
    if (group->v2) {
        proc_text_read(text, sizeof text, root, "%s/cpu.max", group->path);
        if (sscanf(text, "%" SCNd64 " %" SCNd64, &quota, &period) != 2) return;
    } else if (!number_in(root, group, "cpu.cfs_quota_us", &quota) ||
               !number_in(root, group, "cpu.cfs_period_us", &period)) {
        return;
    }
    const double here = quota > 0 && period > 0 ? (double)quota / (double)period : 0;
    if (here > 0 && (*least <= 0 || here < *least)) *least = here;
}

double cgroup_cpu_quota(const char *root)
{
    double best = 0;
    visit_groups(root, "cpu", tighten_quota, &best);
    return best;
}
