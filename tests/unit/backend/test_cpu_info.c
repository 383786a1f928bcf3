/* Other machines, shown to cpu_info as a directory with their /proc and /sys. */
#include "backend/cpu_info.h"
#include "backend/proc_text.h"
#include "made_up_machine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static int new_machine(void **state)
{
    if (new_empty_machine(state) != 0) return -1;
    put("/proc/meminfo",
        "MemTotal:       16777216 kB\nMemFree: 5 kB\nMemAvailable:    8388608 kB\n");
    return 0;
}

static CpuInfo look(void)
{
    CpuInfo info;
    assert_int_equal(cpu_info_read(&info, machine), ST_OK);
    return info;
}

static void put_core(int cpu, const char *siblings, const char *package)
{
    char path[128];
    const char *const base = "/sys/devices/system/cpu/cpu";
    snprintf(path, sizeof path, "%s%d/topology/thread_siblings_list", base, cpu);
    put(path, siblings);
    snprintf(path, sizeof path, "%s%d/topology/physical_package_id", base, cpu);
    put(path, package);
}

/* Two sockets of one core with two hardware threads each. */
static void put_x86(void)
{
    put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Quick CPU @ 3.00GHz\ncpu MHz\t\t: 2999.5\n"
                         "flags\t\t: fpu sse4_2 avx2 fma avx512f amx_bf16 avx512_bf16\n\n"
                         "processor\t: 1\nmodel name\t: Quick CPU @ 3.00GHz\n");
    put("/sys/devices/system/cpu/online", "0-3\n");
    put("/sys/devices/system/node/online", "0-1\n");
    put_core(0, "0,2\n", "0\n");
    put_core(2, "0,2\n", "0\n");
    put_core(1, "1,3\n", "1\n");
    put_core(3, "1,3\n", "1\n");
}

static void x86_machine(void **state)
{
    (void)state;
    put_x86();
    const CpuInfo info = look();
    assert_string_equal(info.name, "Quick CPU @ 3.00GHz");
    assert_int_equal(info.online, 4);
    assert_int_equal(info.physical, 2);
    assert_int_equal(info.sockets, 2);
    assert_int_equal(info.nodes, 2);
    assert_int_equal(info.usable, 4);
    assert_int_equal(info.usable_cores, 2);
    assert_true(cpu_info_has(&info, "avx512_bf16"));
    assert_true(cpu_info_has(&info, "fma"));
    assert_false(cpu_info_has(&info, "avx")); /* only avx2 */
    assert_false(cpu_info_has(&info, "bf16"));
    assert_true(info.mhz > 2999 && info.mhz < 3000);
    assert_true(info.memory_total == 16384LL * MIB);
    assert_true(cpu_info_memory_left(&info) == 8192LL * MIB);
}

static void affinity_and_quota(void **state)
{
    (void)state;
    put_x86();
    put("/proc/self/status", "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t0,2-3,9\n");
    CpuInfo info = look();
    assert_int_equal(info.usable, 3); /* 9 is not online */
    assert_int_equal(info.usable_cores, 2);
    put("/proc/self/cgroup", "3:cpuset:/\n2:cpu,cpuacct:/job/a\n");
    put("/proc/self/mountinfo",
        "20 1 0:1 / /cg/set rw - cgroup cgroup rw,cpuset\n"
        "21 1 0:2 / /cg/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n");
    put("/cg/cpu/job/a/cpu.cfs_quota_us", "250000\n");
    put("/cg/cpu/job/a/cpu.cfs_period_us", "100000\n");
    info = look();
    assert_int_equal(info.usable, 2); /* whole processors of 2.5 */
    assert_true(info.quota > 2.49 && info.quota < 2.51);
    put("/cg/cpu/job/cpu.cfs_quota_us", "50000\n"); /* the parent is tighter */
    put("/cg/cpu/job/cpu.cfs_period_us", "100000\n");
    info = look();
    assert_int_equal(info.usable, 1);
    assert_int_equal(info.usable_cores, 1);
}

static void aarch64_machine(void **state)
{
    (void)state;
    put("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd bf16 i8mm svebf16\n"
                         "CPU implementer\t: 0x41\nCPU part\t: 0xd05\n\n"
                         "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n\n"
                         "processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n\n"
                         "processor\t: 3\nCPU implementer\t: 0x99\nCPU part\t: 0x123\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/size", "64K\n");
    put("/sys/devices/system/cpu/cpu0/cache/index1/level", "1\n");
    put("/sys/devices/system/cpu/cpu0/cache/index1/type", "Instruction\n");
    put("/sys/devices/system/cpu/cpu0/cache/index1/size", "32K\n");
    put("/sys/devices/system/cpu/cpu0/cache/index3/level", "3\n");
    put("/sys/devices/system/cpu/cpu0/cache/index3/type", "Unified\n");
    put("/sys/devices/system/cpu/cpu0/cache/index3/size", "32M\n");
    put("/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", "0-1\n");
    put("/sys/devices/system/cpu/online", "0-3\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1800000\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put("/proc/loadavg", "1.25 0.5 0.1 1/82 7202\n");
    const CpuInfo info = look();
    assert_string_equal(info.name, "Cortex-A55 + Cortex-A76 + implementer 0x99 part 0x123");
    assert_string_equal(info.features, "asimd bf16 i8mm svebf16");
    assert_true(info.l1d == 65536 && info.l2 == 0 && info.l3 == 32LL * MIB);
    assert_int_equal(info.l3_instances, 2);
    assert_string_equal(info.governor, "schedutil");
    assert_true(info.mhz > 1799.9 && info.mhz < 1800.1);
    assert_string_equal(info.huge_pages, "madvise");
    assert_true(info.load > 1.24 && info.load < 1.26);
}

static void memory_of_version_1(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "4:memory:/outer/inner\n0::/\n");
    put("/proc/self/mountinfo", "37 33 0:34 / /cg/mem rw - cgroup cgroup rw,memory\n"
                                "43 33 0:40 / /cg/unified rw - cgroup2 cgroup2 rw\n");
    put("/cg/mem/outer/inner/memory.limit_in_bytes", "9223372036854771712\n");
    assert_false(look().cgroup.limited);
    put("/cg/mem/outer/memory.limit_in_bytes", "4294967296\n");
    put("/cg/mem/outer/memory.usage_in_bytes", "3221225472\n");
    put("/cg/mem/outer/memory.stat", "cache 9\ninactive_file 7\ntotal_inactive_file 1073741824\n");
    const CpuInfo info = look();
    assert_true(info.cgroup.limited);
    assert_true(info.cgroup.limit == 4096LL * MIB);
    assert_true(info.cgroup.used == 2048LL * MIB);
    assert_true(cpu_info_memory_left(&info) == 2048LL * MIB);
}

static void memory_of_version_2(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/proc/self/mountinfo", "43 33 0:40 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/memory.max", "1073741824\n");
    put("/sys/fs/cgroup/a/memory.current", "1048576\n");
    put("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "100000 100000\n");
    CpuInfo info = look();
    assert_true(cpu_info_memory_left(&info) == 1023LL * MIB);
    assert_int_equal(info.usable, 1);
    put("/sys/fs/cgroup/a/memory.high", "536870912\n");
    info = look();
    assert_true(cpu_info_memory_left(&info) == 511LL * MIB);
    put("/sys/fs/cgroup/a/memory.current", "2000000000\n"); /* more than allowed: nothing left */
    info = look();
    assert_true(cpu_info_memory_left(&info) == 0);
}

/* A container that sees only its own part of the hierarchy under the mount point. */
static void memory_in_a_container(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "4:memory:/docker/abc\n");
    put("/proc/self/mountinfo", "37 33 0:34 /docker/abc /cg/mem rw - cgroup cgroup rw,memory\n");
    put("/cg/mem/memory.limit_in_bytes", "2147483648\n");
    put("/cg/mem/memory.usage_in_bytes", "0\n");
    assert_true(look().cgroup.limit == 2048LL * MIB);
}

static void times(void **state)
{
    (void)state;
    CpuTicks ticks;
    put("/proc/stat", "cpu  100 1 50 800 20 0 4 25 0 0\ncpu0 1 2 3 4\n");
    assert_int_equal(cpu_info_ticks(&ticks, machine), ST_OK);
    assert_true(ticks.total == 1000 && ticks.idle == 820 && ticks.steal == 25);
    put("/proc/stat", "nothing\n");
    assert_int_equal(cpu_info_ticks(&ticks, machine), ST_IO);
}

static void nothing_to_read(void **state)
{
    (void)state;
    CpuInfo info;
    assert_int_equal(cpu_info_read(&info, "/nonexistent"), ST_IO);
    assert_non_null(strstr(status_message(), "/proc"));
    put("/proc/self/cgroup", "garbage\n::\n0::\n");
    put("/proc/self/mountinfo", "garbage\n - cgroup2\n1 2 3 4\n");
    put("/sys/devices/system/cpu/online", "x,-3,99999999999999999999\n");
    info = look();
    assert_true(info.usable >= 1 && info.usable_cores >= 1 && info.physical >= 1);
    assert_false(info.cgroup.limited);
}

static void processor_lists(void **state)
{
    (void)state;
    static bool in[PROC_TEXT_CPUS];
    assert_int_equal(proc_text_cpu_list("0-3,8", in), 5);
    assert_true(in[3] && in[8] && !in[4]);
    assert_int_equal(proc_text_cpu_list("", in), 0);
    assert_int_equal(proc_text_cpu_list("8190-99999", in), 2);
    assert_int_equal(proc_text_cpu_list("3-1", in), 0);
}

static void this_machine(void **state)
{
    (void)state;
    CpuInfo info;
    CpuTicks ticks;
    size_t bytes = 0;
    assert_int_equal(cpu_info_read(&info, ""), ST_OK);
    assert_true(*info.name && *info.arch);
    assert_true(info.usable >= 1 && info.usable <= info.online);
    assert_true(info.usable_cores >= 1 && info.usable_cores <= info.usable);
    assert_int_equal(cpu_info_memory_available(&bytes), ST_OK);
    assert_true(bytes > 0 && (int64_t)bytes <= info.memory_total);
    assert_int_equal(cpu_info_ticks(&ticks, ""), ST_OK);
    assert_true(ticks.total > 0);
}

/* As under `ulimit -v`. */
static void limited_addresses(void **state)
{
    (void)state;
    char text[128];
    struct rlimit before, less;
    size_t bytes = 0;
    assert_true(proc_text_read(text, sizeof text, "", "/proc/self/statm"));
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    less = before;
    less.rlim_cur = (rlim_t)(strtoll(text, NULL, 10) * sysconf(_SC_PAGESIZE) + 64 * MIB);
    assert_int_equal(setrlimit(RLIMIT_AS, &less), 0);
    const Status status = cpu_info_memory_available(&bytes);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, ST_OK);
    assert_true(bytes > 32 * MIB && bytes <= 64 * MIB);
}

int main(void)
{
#define ON_A_MACHINE(f) cmocka_unit_test_setup_teardown(f, new_machine, drop_machine)
    const struct CMUnitTest tests[] = {
        ON_A_MACHINE(x86_machine),
        ON_A_MACHINE(affinity_and_quota),
        ON_A_MACHINE(aarch64_machine),
        ON_A_MACHINE(memory_of_version_1),
        ON_A_MACHINE(memory_of_version_2),
        ON_A_MACHINE(memory_in_a_container),
        ON_A_MACHINE(times),
        ON_A_MACHINE(nothing_to_read),
        cmocka_unit_test(processor_lists),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(limited_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
