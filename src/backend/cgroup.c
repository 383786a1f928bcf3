#include "backend/cgroup.h"

#include "backend/proc_text.h"
#include "base/i64.h"

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
        for (char *c = list; *c; c++) *c = *c == ',' ? ' ' : *c;
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
    for (char *c = super; *c; c++) *c = *c == ',' ? ' ' : *c;
    return strcmp(type, "cgroup") == 0 && proc_text_has_word(super, controller);
}

/* `controller` is "" for the version 2 hierarchy. */
static bool find_group(const char *root, const char *controller, Group *group)
{
    static _Thread_local char text[TEXT];
    char own[1024], mount_root[1024], mount[1024];
    if (!proc_text_read(root, "/proc/self/cgroup", text, sizeof text)) return false;
    if (!own_path(text, controller, own, sizeof own)) return false;
    if (!proc_text_read(root, "/proc/self/mountinfo", text, sizeof text)) return false;
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

/* -1 stands for no limit. */
static bool number_in(const char *root, const Group *group, const char *file, int64_t *value)
{
    char path[PATH_MAX + 64];
    int64_t number;
    snprintf(path, sizeof path, "%s/%s", group->path, file);
    if (!proc_text_number(root, path, &number) || number < 0) return false;
    *value = number;
    return true;
}

static int64_t stat_of(const char *root, const Group *group, const char *key)
{
    char path[PATH_MAX + 64], text[8192], value[32];
    snprintf(path, sizeof path, "%s/memory.stat", group->path);
    if (!proc_text_read(root, path, text, sizeof text)) return 0;
    const bool known = proc_text_field(text, key, value, sizeof value);
    const int64_t bytes = known ? strtoll(value, NULL, 10) : 0;
    return i64_max(bytes, 0);
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

static void tighten_memory(const char *root, const char *controller, CgroupMemory *best)
{
    Group group;
    CgroupMemory here;
    if (!find_group(root, controller, &group)) return;
    do {
        if (!memory_of(root, &group, &here)) continue;
        const bool tighter = here.limit - here.used < best->limit - best->used;
        if (!best->limited || tighter) *best = here;
    } while (ascend(&group));
}

CgroupMemory cgroup_memory(const char *root)
{
    CgroupMemory best = {0};
    tighten_memory(root, "memory", &best);
    tighten_memory(root, "", &best);
    return best;
}

static double quota_of(const char *root, const Group *group)
{
    char path[PATH_MAX + 64], text[64];
    long long quota, period;
    if (group->v2) {
        snprintf(path, sizeof path, "%s/cpu.max", group->path);
        if (!proc_text_read(root, path, text, sizeof text)) return 0;
        if (sscanf(text, "%lld %lld", &quota, &period) != 2) return 0;
    } else {
        int64_t q, p;
        if (!number_in(root, group, "cpu.cfs_quota_us", &q)) return 0;
        if (!number_in(root, group, "cpu.cfs_period_us", &p)) return 0;
        quota = q;
        period = p;
    }
    return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static double tighten_quota(const char *root, const char *controller, double best)
{
    Group group;
    if (!find_group(root, controller, &group)) return best;
    do {
        const double here = quota_of(root, &group);
        if (here > 0 && (best <= 0 || here < best)) best = here;
    } while (ascend(&group));
    return best;
}

double cgroup_cpu_quota(const char *root)
{
    return tighten_quota(root, "", tighten_quota(root, "cpu", 0));
}
