/* What the kernel says of a machine: /proc, /sys and control groups as files under a root of their own. */
#include "backend/cgroup.h"
#include "backend/cpu_info.h"
#include "backend/proc_text.h"
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put(void *self, const char *name, const uint8_t *data, size_t n)
{
    (void)self;
    while (*name == '/') name++;
    if (*name) harness_put(name, data, n);
}

static bool ends(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static void check_info(void)
{
    CpuInfo info;
    harness_forget();
    if (!harness_taken(cpu_info_read(&info, harness_folder()),
                       HARNESS_MAY(IO) | HARNESS_MAY(FAILED) | HARNESS_MAY(DEVICE) |
                           HARNESS_MAY(NO_MEMORY)))
        return;
    if (info.usable < 1 || info.usable_cores < 1) harness_fail("no processor to run on");
    if (info.online < 0 || info.physical < 0 || info.sockets < 0 || info.nodes < 0)
        harness_fail("fewer than no processors");
    if (!(info.quota >= 0) || isinf(info.quota)) harness_fail("a quota of %g", info.quota);
    if (!ends(info.name, sizeof info.name) || !ends(info.features, sizeof info.features) ||
        !ends(info.governor, sizeof info.governor))
        harness_fail("a text without an end");
    (void)cpu_info_cache(&info);
    if (cpu_info_memory_left(&info) < 0) harness_fail("less than no memory is left");
}

static void check_rest(void)
{
    CpuTicks ticks;
    harness_forget();
    harness_taken(cpu_info_ticks(&ticks, harness_folder()),
                  HARNESS_MAY(IO) | HARNESS_MAY(FAILED) | HARNESS_MAY(DEVICE));
    (void)cgroup_memory(harness_folder());
    const double quota = cgroup_cpu_quota(harness_folder());
    if (!(quota >= 0)) harness_fail("a quota of %g", quota);
}

static void check_texts(const uint8_t *data, size_t n)
{
    static bool in[PROC_TEXT_CPUS];
    char value[32];
    char *text = malloc(n + 1);
    if (!text) return;
    memcpy(text, data, n);
    text[n] = '\0';
    const int count = proc_text_cpu_list(text, in);
    if (count < 0 || count > PROC_TEXT_CPUS) harness_fail("%d processors", count);
    (void)proc_text_has_word(text, "avx2");
    if (proc_text_field(text, "MemTotal", value, sizeof value) && !ends(value, sizeof value))
        harness_fail("a field without an end");
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    harness_folder();
    harness_split(data, n, put, NULL);
    check_info();
    check_rest();
    check_texts(data, n);
    harness_clear();
    return 0;
}
