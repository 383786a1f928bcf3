#include "backend/cpu_info.h"

#include "backend/cpu_places.h"
#include "base/error_text.h"
#include "base/i64.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { TEXT = 65536 };

static const char *const features[] = {
    /* aarch64 */
    "asimd", "asimdhp", "asimddp", "asimdfhm", "bf16", "i8mm", "sve", "sve2", "svebf16", "sme",
    /* x86-64 */
    "sse4_2", "avx", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512vl",
    "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "amx_fp16"};

static const struct {
    long implementer, part;
    const char *name;
} parts[] = {
#define CPU_PART(implementer, part, name) {implementer, part, name},
#include "backend/cpu_parts.def"
};

static void append(char *list, size_t size, const char *separator, const char *word)
{
    const size_t n = strlen(list);
    snprintf(list + n, size - n, "%s%s", n ? separator : "", word);
}

static void part_name(long implementer, long part, char *name, size_t size)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].implementer != implementer || parts[i].part != part) continue;
        snprintf(name, size, "%s", parts[i].name);
        return;
    }
    snprintf(name, size, "implementer 0x%lx part 0x%lx", implementer, part);
}

/* x86 has a model name; aarch64 numbers, once per processor: big and little ones differ. */
static void read_name(CpuInfo *info, const char *text)
{
    char value[PROC_TEXT_LINE], part[64];
    if (proc_text_field(text, "model name", info->name, sizeof info->name)) return;
    long implementer = 0;
    for (const char *line = text; *line;) {
        if (strncmp(line, "CPU implementer", 15) == 0) {
            proc_text_field(line, "CPU implementer", value, sizeof value);
            implementer = strtol(value, NULL, 16);
        } else if (strncmp(line, "CPU part", 8) == 0) {
            proc_text_field(line, "CPU part", value, sizeof value);
            part_name(implementer, strtol(value, NULL, 16), part, sizeof part);
            if (!strstr(info->name, part)) append(info->name, sizeof info->name, " + ", part);
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

static void read_cpuinfo(CpuInfo *info, const char *root)
{
    static _Thread_local char text[TEXT];
    char words[8192], mhz[32];
    if (!proc_text_read(text, sizeof text, root, "/proc/cpuinfo")) return;
    read_name(info, text);
    if (!proc_text_field(text, "Features", words, sizeof words)) {
        proc_text_field(text, "flags", words, sizeof words);
    }
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        if (!proc_text_has_word(words, features[i])) continue;
        append(info->features, sizeof info->features, " ", features[i]);
    }
    if (proc_text_field(text, "cpu MHz", mhz, sizeof mhz)) info->mhz = strtod(mhz, NULL);
}

static bool cpu_number(const char *root, int cpu, const char *file, int64_t *value)
{
    char text[64];
    return proc_text_read(text, sizeof text, root, "/sys/devices/system/cpu/cpu%d/%s", cpu, file) &&
           proc_text_number(text, value);
}

/* A core is counted at the first of its hardware threads that is in the set. */
static int count_cores(const char *root, const bool in[PROC_TEXT_CPUS])
{
    static _Thread_local bool siblings[PROC_TEXT_CPUS];
    int cores = 0;
    for (int cpu = 0; cpu < PROC_TEXT_CPUS; cpu++) {
        char list[PROC_TEXT_LINE];
        if (!in[cpu]) continue;
        proc_text_read(list, sizeof list, root,
                       "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        proc_text_cpu_list(list, siblings);
        int first = 0;
        while (first < cpu && !(siblings[first] && in[first])) first++;
        cores += first == cpu;
    }
    return cores;
}

static int count_sockets(const char *root, const bool in[PROC_TEXT_CPUS])
{
    bool seen[64] = {false};
    int sockets = 0;
    for (int cpu = 0; cpu < PROC_TEXT_CPUS; cpu++) {
        int64_t package;
        if (!in[cpu] || !cpu_number(root, cpu, "topology/physical_package_id", &package)) continue;
        if (package < 0 || package >= 64 || seen[package]) continue;
        seen[package] = true;
        sockets++;
    }
    return sockets > 0 ? sockets : 1;
}

/* libgomp may have bound this thread to one processor already: the places are what the process may use. */
static int allowed_processors(const char *root, const bool online[PROC_TEXT_CPUS], int n_online,
                              bool allowed[PROC_TEXT_CPUS])
{
    char text[8192], list[4096];
    const bool known = proc_text_read(text, sizeof text, root, "/proc/self/status") &&
                       proc_text_field(text, "Cpus_allowed_list", list, sizeof list);
    const bool placed = !*root && cpu_places(allowed) > 0;
    if (!placed && (!known || proc_text_cpu_list(list, allowed) == 0)) {
        memcpy(allowed, online, PROC_TEXT_CPUS * sizeof *allowed);
        return n_online;
    }
    int count = 0;
    for (int i = 0; i < PROC_TEXT_CPUS; i++) count += allowed[i] = allowed[i] && online[i];
    return count;
}

static int at_most(int count, double quota)
{
    const int whole = quota < 1 ? 1 : (int)quota;
    return quota > 0 && whole < count ? whole : count;
}

static void read_processors(CpuInfo *info, const char *root)
{
    static _Thread_local bool online[PROC_TEXT_CPUS], allowed[PROC_TEXT_CPUS];
    char list[4096];
    proc_text_read(list, sizeof list, root, "/sys/devices/system/cpu/online");
    info->online = proc_text_cpu_list(list, online);
    if (info->online == 0) {
        info->online = (int)sysconf(_SC_NPROCESSORS_ONLN);
        for (int i = 0; i < info->online && i < PROC_TEXT_CPUS; i++) online[i] = true;
    }
    info->physical = count_cores(root, online);
    info->sockets = count_sockets(root, online);
    proc_text_read(list, sizeof list, root, "/sys/devices/system/node/online");
    info->nodes = proc_text_cpu_list(list, allowed);
    if (info->nodes == 0) info->nodes = 1;
    info->quota = cgroup_cpu_quota(root);
    info->usable = at_most(allowed_processors(root, online, info->online, allowed), info->quota);
    info->usable_cores = at_most(count_cores(root, allowed), info->quota);
}

/* A number that no machine has is one that is not known. */
static int64_t in_units(int64_t n, int64_t unit)
{
    return n < 0 || n > INT64_MAX / unit ? 0 : n * unit;
}

static int64_t cache_bytes(const char *text)
{
    char *end;
    const int64_t n = strtoll(text, &end, 10);
    return in_units(n, *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1);
}

static bool cache_file(const char *root, int index, const char *file, char *text, size_t size)
{
    return proc_text_read(text, size, root, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index,
                          file);
}

static int instances(const char *root, int index, int online)
{
    static _Thread_local bool sharing[PROC_TEXT_CPUS];
    char list[4096];
    cache_file(root, index, "shared_cpu_list", list, sizeof list);
    const int n = proc_text_cpu_list(list, sharing);
    return n > 0 && n < online ? (int)i64_ceil_div(online, n) : 1;
}

static void read_caches(CpuInfo *info, const char *root)
{
    for (int i = 0; i < 8; i++) {
        char level[8], type[32], size[32];
        if (!cache_file(root, i, "level", level, sizeof level)) continue;
        cache_file(root, i, "type", type, sizeof type);
        cache_file(root, i, "size", size, sizeof size);
        if (strcmp(type, "Instruction") == 0) continue;
        if (*level == '1') info->l1d = cache_bytes(size);
        if (*level == '2') info->l2 = cache_bytes(size);
        if (*level != '3') continue;
        info->l3 = cache_bytes(size);
        info->l3_instances = instances(root, i, info->online);
    }
}

static int64_t addresses_left(const char *root)
{
    struct rlimit limit;
    char text[128];
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= INT64_MAX) return INT64_MAX;
    proc_text_read(text, sizeof text, root,
                   "/proc/self/statm"); /* its first number: pages mapped */
    const int64_t left =
        (int64_t)limit.rlim_cur - in_units(strtoll(text, NULL, 10), sysconf(_SC_PAGESIZE));
    return i64_max(left, 0);
}

static Status read_memory(CpuInfo *info, const char *root)
{
    char text[8192], value[64];
    if (!proc_text_read(text, sizeof text, root, "/proc/meminfo")) {
        return FAIL(ST_IO, "%s/proc/meminfo cannot be read: %s", root,
                    errno == ENOENT ? "is /proc mounted?" : error_text(errno));
    }
    if (proc_text_field(text, "MemTotal", value, sizeof value)) {
        info->memory_total = in_units(strtoll(value, NULL, 10), 1024);
    }
    if (!proc_text_field(text, "MemAvailable", value, sizeof value)) {
        return FAIL(ST_IO, "%s/proc/meminfo has no MemAvailable line", root);
    }
    info->memory_available = in_units(strtoll(value, NULL, 10), 1024);
    info->cgroup = cgroup_memory(root);
    info->addresses_left = addresses_left(root);
    return ST_OK;
}

/* "always [madvise] never" */
static void read_huge_pages(CpuInfo *info, const char *root)
{
    char text[128];
    proc_text_read(text, sizeof text, root, "/sys/kernel/mm/transparent_hugepage/enabled");
    const char *open = strchr(text, '[');
    if (!open) return;
    snprintf(info->huge_pages, sizeof info->huge_pages, "%.*s", (int)strcspn(open + 1, "]"),
             open + 1);
}

static void read_condition(CpuInfo *info, const char *root)
{
    char text[128];
    int64_t khz;
    proc_text_read(info->governor, sizeof info->governor, root,
                   "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (cpu_number(root, 0, "cpufreq/scaling_cur_freq", &khz)) info->mhz = (double)khz / 1000;
    if (proc_text_read(text, sizeof text, root, "/proc/loadavg")) info->load = strtod(text, NULL);
    read_huge_pages(info, root);
}

Status cpu_info_read(CpuInfo *info, const char *root)
{
    *info = (CpuInfo){0};
    struct utsname name;
    if (uname(&name) == 0) snprintf(info->arch, sizeof info->arch, "%.31s", name.machine);
    read_cpuinfo(info, root);
    if (!*info->name) snprintf(info->name, sizeof info->name, "unknown %s", info->arch);
    read_processors(info, root);
    read_caches(info, root);
    read_condition(info, root);
    return read_memory(info, root);
}

Status cpu_info_ticks(CpuTicks *ticks, const char *root)
{
    char text[4096], line[PROC_TEXT_LINE];
    long long t[8] = {0}; /* user nice system idle iowait irq softirq steal */
    proc_text_read(text, sizeof text, root, "/proc/stat");
    const bool found = proc_text_field(text, "cpu", line, sizeof line);
    if (!found || sscanf(line, "%lld %lld %lld %lld %lld %lld %lld %lld", &t[0], &t[1], &t[2],
                         &t[3], &t[4], &t[5], &t[6], &t[7]) < 4) {
        return FAIL(ST_IO, "%s/proc/stat has no line of processor times", root);
    }
    for (int i = 0; i < 8; i++) t[i] = t[i] < 0 || t[i] > INT64_MAX / 8 ? 0 : t[i];
    *ticks = (CpuTicks){.idle = t[3] + t[4], .steal = t[7]};
    for (int i = 0; i < 8; i++) ticks->total += t[i];
    return ST_OK;
}

bool cpu_info_has(const CpuInfo *info, const char *feature)
{
    return proc_text_has_word(info->features, feature);
}

int64_t cpu_info_cache(const CpuInfo *info)
{
    const int64_t caches = i64_max(info->l3_instances, 1);
    return info->l3 > 0 ? info->l3 * caches : info->l2;
}

int64_t cpu_info_memory_left(const CpuInfo *info)
{
    int64_t left = info->memory_available;
    const int64_t allowed = info->cgroup.limit - info->cgroup.used;
    if (info->cgroup.limited && allowed < left) left = allowed;
    if (info->addresses_left < left) left = info->addresses_left;
    return i64_max(left, 0);
}

Status cpu_info_memory_available(size_t *bytes)
{
    CpuInfo info = {0};
    TRY(read_memory(&info, ""));
    *bytes = (size_t)cpu_info_memory_left(&info);
    return ST_OK;
}
