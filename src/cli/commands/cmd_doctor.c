/* roofstep doctor: what this machine and this build have, what is missing, and how to get it. */
#include "backend/backend.h"
#include "backend/cpu_features.h"
#include "backend/cpu_info.h"
#include "backend/cpu_threads.h"
#include "backend/gpu_libraries.h"
#include "backend/nvml_info.h"
#include "backend/openmp_library.h"
#include "base/escape.h"
#include "base/human.h"
#include "base/json_text.h"
#include "bench/limits/limits_cache.h"
#include "bench/measure/rank_launch.h"
#include "bench/record/environment.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/program_version.h"
#include "comm/nccl_comm.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "prof/activity_cupti.h"
#include "report/page/page.h"
#include "version.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct Doctor {
    CpuInfo cpu;
    CpuTicks ticks;
    bool gpu_built;   /* this build has the CUDA engine */
    bool gpu_there;   /* the driver shows a GPU */
    NvmlReading nvml; /* of that GPU */
    GpuLibraries libraries;
    ProgramVersion version[PROGRAMS];
    bool limits_stored;
    Limits limits;
    json_t *features; /* [{name, there, detail}] */
    json_t *advice;   /* [line] */
    bool failed;      /* no memory for one of them */
} Doctor;

static double steal_percent(const Doctor *d)
{
    return d->ticks.total ? 100.0 * (double)d->ticks.steal / (double)d->ticks.total : 0;
}

static const char *or_else(const char *text, const char *otherwise)
{
    return *text ? text : otherwise;
}

/* ---- features ---- */

__attribute__((format(printf, 4, 5))) static void feature(Doctor *d, bool there, const char *name,
                                                          const char *fmt, ...)
{
    va_list args;
    CLEANUP(text_free) Text detail = {0}, line = {0};
    va_start(args, fmt);
    text_vprintf(&detail, fmt, args);
    va_end(args);
    escape_put(&line, ESCAPE_LINE, text_str(&detail)); /* another program may have printed it */
    json_t *entry = json_pack("{s:s, s:b, s:o}", "name", name, "there", there, "detail",
                              json_text_string(text_str(&line)));
    if (json_array_append_new(d->features, entry) || detail.failed || line.failed) d->failed = true;
}

/* "NVIDIA H200, 140 GiB, driver 580.65" */
static void put_gpu_name(Text *out, const Doctor *d)
{
    const NvmlReading *r = &d->nvml;
    if (d->gpu_there)
        text_printf(out, "%s, %s, driver %s", or_else(r->name, "a GPU"),
                    human_bytes((double)r->memory_total).s, or_else(r->driver, "unknown"));
    else
        text_puts(out, "none found");
}

static void list_gpu_features(Doctor *d)
{
    const char *cudnn = d->libraries.cudnn;
    CLEANUP(text_free) Text gpu = {0};
    put_gpu_name(&gpu, d);
    if (d->gpu_built) {
        const bool traced = activity_cupti_check() == ST_OK;
        feature(d, d->gpu_there, "CUDA engine", "GPU: %s", text_str(&gpu));
        feature(d, *cudnn, "cuDNN attention", "%s", or_else(cudnn, "not in this build"));
        feature(d, traced, "CUPTI", "%s", traced ? "profile sees kernels" : status_message());
    } else {
        feature(d, false, "CUDA engine", "not in this build; GPU: %s; CUDA compiler: %s",
                text_str(&gpu), or_else(d->version[NVCC].s, "none"));
    }
}

static void list_features(Doctor *d)
{
    char mpi[512], nccl[NCCL_COMM_TEXT];
    const bool ranks = rank_launch_describe(mpi, sizeof mpi);
    feature(d, true, "CPU engine", "%s", blas_cpu_name());
    list_gpu_features(d);
    feature(d, ranks, "ranks", "%s", mpi);
    if (d->gpu_built) feature(d, nccl_comm_describe(nccl), "ranks on GPUs", "NCCL: %s", nccl);
    feature(d, d->limits_stored, "measured limits", "%s",
            d->limits_stored ? d->limits.time_utc : "none yet: run roofstep limits");
    feature(
        d, *d->version[TORCH].s, "PyTorch", "%s",
        or_else(d->version[TORCH].s, "needed only to check an export and for bench --peer torch"));
    feature(d, page_is_built(), "HTML report", "%s; npm: %s",
            page_is_built() ? "in this build" : "not in this build",
            or_else(d->version[NODE].s, "none (the build fetches the charts with it)"));
    feature(d, *d->version[SQLITE].s, "sqlite3", "%s",
            or_else(d->version[SQLITE].s, "needed only to read --format sql"));
}

/* ---- advice ---- */

__attribute__((format(printf, 3, 4))) static void advise(Doctor *d, bool when, const char *fmt, ...)
{
    va_list args;
    CLEANUP(text_free) Text line = {0};
    if (!when) return;
    va_start(args, fmt);
    text_vprintf(&line, fmt, args);
    va_end(args);
    if (json_text_append(d->advice, &line) != ST_OK) d->failed = true;
}

static void advise_on_load(Doctor *d)
{
    const CpuInfo *cpu = &d->cpu;
    const bool governed = *cpu->governor && strcmp(cpu->governor, "performance") != 0;
    advise(d, governed,
           "The CPU frequency governor is %s: times vary less with 'performance' (sudo cpupower "
           "frequency-set -g performance).",
           cpu->governor);
    advise(d, cpu->load > 0.5 * cpu->usable_cores,
           "The load is %.1f on %d cores: stop other programs before measuring.", cpu->load,
           cpu->usable_cores);
    advise(d, steal_percent(d) > 1,
           "The hypervisor took %.1f %% of this virtual machine's CPU time since boot (steal): "
           "expect outliers, trust medians.",
           steal_percent(d));
}

/* OpenBLAS knows CPUs by their model number; one newer than the library gets the oldest kernels. */
static void advise_on_blas(Doctor *d)
{
    const bool oldest = strcmp(blas_cpu_kernels(), "Prescott") == 0;
    const bool openblas = strncmp(blas_cpu_name(), "OpenBLAS", 8) == 0;
    advise(d, oldest && cpu_info_has(&d->cpu, "avx2"),
           "%s does not recognise this CPU and uses its kernels of 2004 (Prescott): set "
           "OPENBLAS_CORETYPE=%s to make --blas system, and PyTorch where it uses that library, "
           "several times as fast.",
           blas_cpu_name(), cpu_info_has(&d->cpu, "avx512f") ? "SkylakeX" : "Haswell");
    advise(d, openblas && strcmp(d->cpu.arch, "aarch64") == 0,
           "BLIS is the faster BLAS on most Arm cores: install libblis-openmp-dev and remove "
           "build/release.");
}

static void advise_on_cpu(Doctor *d)
{
    const CpuInfo *cpu = &d->cpu;
    const bool arm = strcmp(cpu->arch, "aarch64") == 0;
    advise(d, cpu->quota > 0 && cpu->quota < cpu->online,
           "A cgroup limits CPU time to %.2f CPUs: more threads than that stall.", cpu->quota);
    advise(d, cpu_threads_most() < cpu->usable_cores,
           "OMP_THREAD_LIMIT allows %d of %d threads: unset it to use all cores.",
           cpu_threads_most(), cpu->usable_cores);
    advise(d, !arm && !(cpu_info_has(cpu, "avx2") && cpu_info_has(cpu, "fma")),
           "This CPU has no AVX2 with FMA: matrix multiplications will be slow.");
    advise_on_blas(d);
    advise(d, cpu->cgroup.limited && cpu->cgroup.limit < cpu->memory_total,
           "A cgroup limits memory to %s of the machine's %s.",
           human_bytes((double)cpu->cgroup.limit).s, human_bytes((double)cpu->memory_total).s);
}

/* The major version decides: "12.4" is older than "13.0". */
static bool is_older(const char *driver, const char *runtime)
{
    return *driver && *runtime && strtol(driver, NULL, 10) < strtol(runtime, NULL, 10);
}

static void advise_on_gpu(Doctor *d)
{
    const NvmlReading *r = &d->nvml;
    advise(
        d, d->gpu_there && !d->gpu_built, "There is a GPU, but this build has no CUDA engine: %s",
        *d->version[NVCC].s ? "cmake --preset cuda && cmake --build --preset cuda."
                            : "install the CUDA toolkit 12 or newer, then build the preset cuda.");
    advise(d, d->gpu_built && !d->gpu_there,
           "The CUDA engine needs a GPU, and NVIDIA's driver shows none.");
    advise(d, d->gpu_built && is_older(r->cuda, d->libraries.cuda),
           "The driver supports CUDA %s and this build needs %s: install a newer driver.", r->cuda,
           d->libraries.cuda);
    advise(d, d->gpu_built && !*d->libraries.cudnn,
           "Attention is slower without cuDNN: install libcudnn9-dev and build again.");
    advise(d, d->gpu_there && r->memory_used > r->memory_total / 20,
           "%s of the GPU's memory is in use: another program may be running on it.",
           human_bytes((double)r->memory_used).s);
}

static void list_advice(Doctor *d)
{
    advise_on_cpu(d);
    advise_on_load(d);
    advise(d, !d->limits_stored,
           "Run 'roofstep limits' once (about 20 s; on a busy machine with --keep): bench then "
           "shows MFU and %% of limit.");
    advise_on_gpu(d);
    advise(d, !*d->version[TORCH].s,
           "To check exports against PyTorch, and for bench --peer torch: apt-get install "
           "python3-torch, or pip install torch.");
    advise(d, json_array_size(d->advice) == 0, "Nothing to do: ready to measure.");
}

static Status examine(Doctor *d)
{
    LimitsKey key;
    NvmlInfo *nvml = nvml_info_open(NULL);
    *d = (Doctor){.gpu_built = !backend_api(BACKEND_cuda)->absent,
                  .gpu_there = nvml != NULL,
                  .features = json_array(),
                  .advice = json_array()};
    gpu_libraries_read(&d->libraries);
    if (nvml) nvml_info_read(nvml, &d->nvml);
    if (nvml) nvml_info_close(nvml);
    TRY(cpu_info_read(&d->cpu, ""));
    TRY(cpu_info_ticks(&d->ticks, ""));
    TRY(limits_key(0, &key));
    d->limits_stored = limits_cache_load(&key, &d->limits);
    for (int p = 0; p < PROGRAMS; p++) d->version[p] = program_version((Program)p);
    list_features(d);
    list_advice(d);
    return d->failed ? NO_MEMORY("for the report of doctor") : ST_OK;
}

/* ---- Markdown ---- */

static void put_machine(Text *out, const Doctor *d)
{
    const CpuInfo *cpu = &d->cpu;
    text_printf(out,
                "## Machine\n\n- CPU: %s (%s); cores %d, threads %d, sockets %d, NUMA nodes %d\n",
                cpu->name, cpu->arch, cpu->physical, cpu->online, cpu->sockets, cpu->nodes);
    text_printf(out, "- usable here: cores %d, threads %d", cpu->usable_cores, cpu->usable);
    if (cpu->quota > 0) text_printf(out, "; cgroup quota %.2f CPUs", cpu->quota);
    text_printf(out, "\n- features: %s", cpu->features);
    const CpuFeatureList hidden = cpu_features_hidden(cpu->features);
    text_printf(out, *hidden.s ? "; hidden by ROOFSTEP_CPU_HIDE: %s\n" : "%s\n", hidden.s);
    text_printf(out, "- caches: %s L1d, %s L2, %d x %s L3\n", human_bytes((double)cpu->l1d).s,
                human_bytes((double)cpu->l2).s, cpu->l3_instances, human_bytes((double)cpu->l3).s);
    text_printf(out, "- memory: %s, %s available; cgroup limit: %s\n",
                human_bytes((double)cpu->memory_total).s,
                human_bytes((double)cpu_info_memory_left(cpu)).s,
                cpu->cgroup.limited ? human_bytes((double)cpu->cgroup.limit).s : "none");
    text_printf(out, "- clock: governor %s, ", or_else(cpu->governor, "unknown"));
    text_printf(out, cpu->mhz > 0 ? "%.0f MHz now\n" : "frequency unknown\n", cpu->mhz);
    text_printf(out, "- huge pages: %s\n", or_else(cpu->huge_pages, "unknown"));
    text_printf(out, "- load: %.2f; steal since boot: %.2f %%\n", cpu->load, steal_percent(d));
}

static void put_clocks(Text *out, const NvmlReading *r)
{
    text_printf(out, "- clocks: SM %d of %d MHz, memory %d of %d MHz\n", r->sm_mhz, r->sm_max_mhz,
                r->memory_mhz, r->memory_max_mhz);
    text_puts(out, "- power: ");
    text_printf(out, isnan(r->watts) ? "unknown" : "%.0f W", r->watts);
    if (!isnan(r->limit_watts)) text_printf(out, " of %.0f W", r->limit_watts);
    if (!isnan(r->celsius)) text_printf(out, "; %.0f degrees Celsius", r->celsius);
    text_puts(out, "\n- throttled now by: ");
    uint64_t reasons = r->throttle;
    const char *separator = "";
    for (const char *reason; (reason = nvml_info_next_reason(&reasons)); separator = ", ")
        text_printf(out, "%s%s", separator, reason);
    text_puts(out, *separator ? "\n" : "nothing\n");
}

static void put_gpu(Text *out, const Doctor *d)
{
    const NvmlReading *r = &d->nvml;
    if (!d->gpu_there && !d->gpu_built) return;
    text_puts(out, "\n## GPU\n\n- ");
    put_gpu_name(out, d);
    if (d->gpu_there) {
        if (*r->cuda) text_printf(out, " (CUDA up to %s)", r->cuda);
        if (*r->bus_id) text_printf(out, ", bus id %s", r->bus_id);
        text_printf(out, "\n- memory in use: %s\n", human_bytes((double)r->memory_used).s);
        put_clocks(out, r);
    } else {
        text_puts(out, ": the driver's libnvidia-ml.so.1 is missing or shows none\n");
    }
    if (!d->gpu_built) return;
    text_printf(out, "- libraries: CUDA runtime %s, cuBLASLt %s, cuDNN %s\n",
                or_else(d->libraries.cuda, "missing"), or_else(d->libraries.cublaslt, "missing"),
                or_else(d->libraries.cudnn, "missing"));
}

static void put_build(Text *out, const CpuInfo *cpu)
{
    text_printf(out, "\n## Build\n\n- roofstep %s, commit %s\n- compiler: %s, %s\n- BLAS: %s\n",
                ROOFSTEP_VERSION, ROOFSTEP_COMMIT, ROOFSTEP_COMPILER, ROOFSTEP_FLAGS,
                blas_cpu_name());
    text_printf(out, "- OpenMP of the BLAS library: %s\n- threads by default: %d\n",
                openmp_library()->file, cpu_threads_usual(cpu));
    text_printf(out, "- jansson %s, zlib %s\n", jansson_version_str(), zlibVersion());
}

static void put_conclusion(Text *out, const Doctor *d)
{
    const char *first = json_string_value(json_array_get(d->advice, 0));
    size_t there = 0, i;
    json_t *item;
    json_array_foreach(d->features, i, item) there += json_is_true(json_object_get(item, "there"));
    text_printf(out, "\n%zu of %zu features are there. First to do: %s\n", there,
                json_array_size(d->features), first ? first : "nothing.");
}

static Status put_markdown(Text *out, const Doctor *d)
{
    CLEANUP(text_free) Text all = {0};
    json_t *item;
    size_t i;
    put_machine(&all, d);
    put_gpu(&all, d);
    put_build(&all, &d->cpu);
    text_puts(&all, "\n## Features\n\n");
    json_array_foreach(d->features, i, item) text_printf(
        &all, "- [%s] %s: %s\n", json_is_true(json_object_get(item, "there")) ? "x" : " ",
        json_string_value(json_object_get(item, "name")),
        json_string_value(json_object_get(item, "detail")));
    text_puts(&all, "\n## Advice\n\n");
    json_array_foreach(d->advice, i, item) text_printf(&all, "- %s\n", json_string_value(item));
    put_conclusion(&all, d);
    escape_put(out, ESCAPE_SCREEN, text_str(&all));
    out->failed = out->failed || all.failed;
    return text_status(out);
}

/* ---- JSON ---- */

static Status put_json(Text *out, const Doctor *d, const char *command)
{
    json_t *environment;
    TRY(environment_new(&environment, command));
    CLEANUP(json_text_free)
    json_t *all = json_pack("{s:i, s:o, s:O, s:O}", "schema", 1, "environment", environment,
                            "features", d->features, "advice", d->advice);
    if (!all) return NO_MEMORY("for the result as JSON");
    return output_json(out, all);
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)sweep;
    (void)exit_code;
    Doctor d;
    Text text = {0};
    Status status = examine(&d);
    if (status == ST_OK)
        status = strcmp(settings->format, "json") == 0 ? put_json(&text, &d, settings->command_line)
                                                       : put_markdown(&text, &d);
    json_decref(d.features);
    json_decref(d.advice);
    return output_finish(settings, &text, status);
}

const Command cmd_doctor = {
    .name = "doctor",
    .summary = "what this machine and this build have, and what is missing",
    .help = "Ends with advice. The exit code is 0 whatever it finds.\n"
            "\n"
            "  roofstep doctor\n"
            "  roofstep doctor --format json\n",
    .options = {.taken = OPTION_LIST(OPTIONS_OUTPUT), .formats = "md json"},
    .run = run,
};
