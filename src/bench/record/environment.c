#include "bench/record/environment.h"

#include "backend/cpu_features.h"
#include "backend/cpu_info.h"
#include "backend/gpu_libraries.h"
#include "backend/nvml_info.h"
#include "backend/openmp_library.h"
#include "backend/proc_text.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "bench/record/record.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "version.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

/* Null says "could not be read": cpu_info gives "" and 0 for that. */
static Status put_text(json_t *e, const char *path, const char *text)
{
    return *text ? record_put_text(e, path, text) : record_put_null(e, path);
}

static Status put_count(json_t *e, const char *path, int64_t n)
{
    return n > 0 ? record_put_int(e, path, n) : record_put_null(e, path);
}

static Status put_mib(json_t *e, const char *path, int64_t bytes)
{
    return put_count(e, path, bytes / (1024 * 1024));
}

static Status put_program(json_t *e)
{
    TRY(record_put_text(e, "program", "roofstep"));
    TRY(record_put_text(e, "version", ROOFSTEP_VERSION));
    TRY(record_put_text(e, "commit", ROOFSTEP_COMMIT));
    TRY(record_put_text(e, "compiler", ROOFSTEP_COMPILER));
    return record_put_text(e, "flags", ROOFSTEP_FLAGS);
}

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static void os_name(char *name, size_t size)
{
    char text[4096];
    static const char key[] = "PRETTY_NAME=";
    name[0] = '\0';
    if (!proc_text_read(text, sizeof text, "", "/etc/os-release")) return;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, sizeof key - 1) != 0) continue;
        line += sizeof key - 1;
        line += strspn(line, "\"'");
        snprintf(name, size, "%.*s", (int)strcspn(line, "\"'\n"), line);
        return;
    }
}

static Status put_system(json_t *e)
{
    char os[128], kernel[160] = "";
    os_name(os, sizeof os);
    struct utsname names;
    if (uname(&names) == 0) {
        snprintf(kernel, sizeof kernel, "%.64s %.64s", names.sysname, names.release);
    }
    TRY(put_text(e, "os", os));
    return put_text(e, "kernel", kernel);
}

static Status put_machine(json_t *e, const CpuInfo *cpu)
{
    TRY(put_text(e, "cpu", cpu->name));
    TRY(put_text(e, "architecture", cpu->arch));
    TRY(put_text(e, "features", cpu->features));
    const CpuFeatureList hidden = cpu_features_hidden(cpu->features);
    if (*hidden.s) TRY(put_text(e, "hidden_features", hidden.s));
    TRY(put_count(e, "processors", cpu->online));
    TRY(put_count(e, "cores", cpu->physical));
    TRY(put_count(e, "usable_processors", cpu->usable));
    TRY(put_count(e, "usable_cores", cpu->usable_cores));
    TRY(put_count(e, "sockets", cpu->sockets));
    TRY(put_count(e, "numa_nodes", cpu->nodes));
    TRY(put_mib(e, "memory_mib", cpu->memory_total));
    TRY(put_mib(e, "cgroup_limit_mib", cpu->cgroup.limited ? cpu->cgroup.limit : 0));
    TRY(put_text(e, "governor", cpu->governor));
    return put_text(e, "huge_pages", cpu->huge_pages);
}

/* All null where there is no GPU. */
static Status put_gpu(json_t *e, const NvmlReading *gpu)
{
    TRY(put_text(e, "gpu", gpu->name));
    TRY(put_text(e, "gpu_driver", gpu->driver));
    TRY(put_mib(e, "gpu_memory_mib", gpu->memory_total));
    return record_put_number(e, "gpu_power_limit_w", gpu->limit_watts);
}

static Status put_libraries(json_t *e)
{
    GpuLibraries gpu;
    gpu_libraries_read(&gpu);
    TRY(put_text(e, "libraries.cuda", gpu.cuda));
    TRY(put_text(e, "libraries.cublaslt", gpu.cublaslt));
    TRY(put_text(e, "libraries.cudnn", gpu.cudnn));
    TRY(record_put_text(e, "libraries.blas", blas_cpu_name()));
    TRY(record_put_text(e, "libraries.openmp", openmp_library()->file));
    TRY(record_put_text(e, "libraries.jansson", jansson_version_str()));
    TRY(record_put_text(e, "libraries.zlib", zlibVersion()));
    return record_put_text(e, "libraries.glibc", gnu_get_libc_version());
}

/* FNV-1a, folded to 48 bits: enough to tell the machines and builds of one project apart. */
static Status put_id(json_t *e)
{
    char *text = json_dumps(e, JSON_COMPACT);
    if (!text) return NO_MEMORY("for the environment");
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    free(text);
    char id[16];
    snprintf(id, sizeof id, "%012llx", (unsigned long long)((hash ^ hash >> 48) & 0xffffffffffff));
    return record_put_text(e, "id", id);
}

/* What changes from run to run, and so is no part of the id. */
static Status put_moment(json_t *e, const CpuInfo *cpu, const NvmlReading *gpu, const char *command)
{
    CpuTicks ticks = {0};
    TRY(put_count(e, "gpu_sm_mhz", gpu->sm_mhz));
    TRY(put_count(e, "gpu_memory_mhz", gpu->memory_mhz));
    TRY(record_put_number(e, "gpu_power_w", gpu->watts));
    TRY(record_put_number(e, "gpu_temperature_c", gpu->celsius));
    TRY(put_mib(e, "memory_available_mib", cpu_info_memory_left(cpu)));
    TRY(put_count(e, "frequency_mhz", (int64_t)cpu->mhz));
    TRY(record_put_number(e, "load", cpu->load));
    const bool ticking = cpu_info_ticks(&ticks, "") == ST_OK && ticks.total > 0;
    const double stolen = ticking ? (double)ticks.steal / (double)ticks.total : (double)NAN;
    TRY(record_put_number(e, "steal_percent", 100.0 * stolen));
    TRY(record_put_text(e, "time_utc", clock_utc().s));
    return record_put_text(e, "command", command);
}

/* Closed again at once: cells are processes of their own. */
static NvmlReading read_gpu(void)
{
    NvmlReading reading = {
        .watts = (double)NAN, .limit_watts = (double)NAN, .celsius = (double)NAN};
    NvmlInfo *gpu = nvml_info_open(NULL);
    if (gpu) nvml_info_read(gpu, &reading);
    nvml_info_close(gpu);
    return reading;
}

static Status fill(json_t *e, const char *command)
{
    const NvmlReading gpu = read_gpu();
    CpuInfo cpu;
    TRY(cpu_info_read(&cpu, ""));
    TRY(record_put_text(e, "id", "")); /* its place is the first */
    TRY(put_program(e));
    TRY(put_system(e));
    TRY(put_machine(e, &cpu));
    TRY(put_gpu(e, &gpu));
    TRY(put_libraries(e));
    TRY(put_id(e));
    return put_moment(e, &cpu, &gpu, command);
}

Status environment_new(json_t **out, const char *command)
{
    *out = NULL;
    CLEANUP(json_text_free) json_t *e = json_object();
    if (!e) return NO_MEMORY("for the environment");
    TRY(fill(e, command));
    *out = json_incref(e);
    return ST_OK;
}
