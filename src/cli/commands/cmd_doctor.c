/* roofstep doctor: what this machine and this build have, what is missing, and what to do. */
#include "backend/cpu_features.h"
#include "backend/cpu_info.h"
#include "backend/cpu_threads.h"
#include "base/escape.h"
#include "base/human.h"
#include "bench/limits/limits.h"
#include "bench/record/environment.h"
#include "cli/command.h"
#include "cli/commands/doctor_gpu.h"
#include "cli/commands/doctor_probe.h"
#include "cli/output.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "prof/activity_cupti.h"
#include "report/page/page.h"
#include "version.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

typedef struct Doctor {
    CpuInfo cpu;
    CpuTicks ticks;
    DoctorGpu gpu;
    DoctorProbe nvcc, torch, node, sqlite;
    bool limits_stored;
    Limits limits;
    Text features, advice; /* lines "word\ttext" and lines */
} Doctor;

static double steal_percent(const Doctor *d)
{
    return d->ticks.total ? 100.0 * (double)d->ticks.steal / (double)d->ticks.total : 0;
}

/* ---- what there is ---- */

static void feature(Doctor *d, bool there, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void feature(Doctor *d, bool there, const char *name, const char *fmt, ...)
{
    va_list args;
    Text words = {0};
    text_printf(&d->features, "%s\t%s\t", there ? "yes" : "no", name);
    va_start(args, fmt);
    text_vprintf(&words, fmt, args);
    va_end(args);
    escape_put(&d->features, ESCAPE_LINE, text_str(&words)); /* what a program printed: one line */
    text_puts(&d->features, "\n");
    text_free(&words);
}

static void list_features(Doctor *d)
{
    Text gpu = {0};
    doctor_gpu_name(&gpu, &d->gpu);
    feature(d, true, "CPU engine", "%s", blas_cpu_name());
    if (d->gpu.built) {
        feature(d, d->gpu.there, "CUDA engine", "GPU: %s", text_str(&gpu));
        feature(d, *d->gpu.libraries.cudnn, "cuDNN attention", "%s",
                *d->gpu.libraries.cudnn ? d->gpu.libraries.cudnn : "not in this build");
        const bool traced = activity_cupti_check() == ST_OK;
        feature(d, traced, "CUPTI", "%s", traced ? "profile sees kernels" : status_message());
    } else {
        feature(d, false, "CUDA engine", "not in this build; GPU: %s; CUDA compiler: %s",
                text_str(&gpu), d->nvcc.there ? d->nvcc.text : "none");
    }
    text_free(&gpu);
    feature(d, d->limits_stored, "measured limits", "%s",
            d->limits_stored ? d->limits.time_utc : "not yet: roofstep limits");
    feature(d, d->torch.there, "PyTorch", "%s",
            d->torch.there ? d->torch.text
                           : "only needed to check an export and for bench --peer torch");
    feature(d, page_is_built(), "HTML report", "%s; npm: %s",
            page_is_built() ? "in this build" : "not in this build",
            d->node.there ? d->node.text : "none (fetches the charts while building)");
    feature(d, d->sqlite.there, "sqlite3", "%s",
            d->sqlite.there ? d->sqlite.text : "only needed to read --format sql");
}

/* ---- what to do about it ---- */

static void advise_on_clock(Doctor *d)
{
    const CpuInfo *cpu = &d->cpu;
    if (*cpu->governor && strcmp(cpu->governor, "performance") != 0) {
        text_printf(&d->advice,
                    "The clock governor is %s: times vary less with 'performance' (sudo cpupower "
                    "frequency-set -g performance).\n",
                    cpu->governor);
    }
    if (cpu->load > 0.5 * cpu->usable_cores) {
        text_printf(&d->advice,
                    "The load is %.1f on %d cores: stop other programs before measuring.\n",
                    cpu->load, cpu->usable_cores);
    }
    if (steal_percent(d) > 1) {
        text_printf(&d->advice,
                    "The host took %.1f %% of this virtual machine's time since it started: expect "
                    "outliers, trust medians.\n",
                    steal_percent(d));
    }
}

/* OpenBLAS knows processors by their model number; one that is newer than the library gets the oldest kernels. */
static void advise_on_kernels(Doctor *d)
{
    const bool wide = cpu_info_has(&d->cpu, "avx512f");
    if (strcmp(blas_cpu_kernels(), "Prescott") != 0 || !cpu_info_has(&d->cpu, "avx2")) return;
    text_printf(
        &d->advice,
        "%s does not know this processor and takes it for one of 2004: OPENBLAS_CORETYPE=%s in the "
        "environment makes --blas system, and PyTorch where it uses that library, several "
        "times as fast.\n",
        blas_cpu_name(), wide ? "SkylakeX" : "Haswell");
}

static void advise_on_processor(Doctor *d)
{
    const CpuInfo *cpu = &d->cpu;
    const bool arm = strcmp(cpu->arch, "aarch64") == 0;
    if (cpu->quota > 0 && cpu->quota < cpu->online) {
        text_printf(
            &d->advice,
            "A cgroup allows %.2f processors' worth of time: more threads than that stall.\n",
            cpu->quota);
    }
    if (cpu_threads_most() < cpu->usable_cores) {
        text_printf(
            &d->advice,
            "OMP_THREAD_LIMIT in the environment allows %d of %d threads: unset it to compute with "
            "all cores.\n",
            cpu_threads_most(), cpu->usable_cores);
    }
    if (!arm && !(cpu_info_has(cpu, "avx2") && cpu_info_has(cpu, "fma"))) {
        text_puts(&d->advice, "This processor has no AVX2 with FMA: products will be slow.\n");
    }
    advise_on_kernels(d);
    if (arm && strncmp(blas_cpu_name(), "OpenBLAS", 8) == 0) {
        text_puts(&d->advice,
                  "BLIS is the faster BLAS on most Arm cores: install libblis-openmp-dev "
                  "and remove build/release.\n");
    }
}

static void advise_on_memory(Doctor *d)
{
    const CgroupMemory *group = &d->cpu.cgroup;
    if (group->limited && group->limit < d->cpu.memory_total) {
        text_printf(&d->advice, "A cgroup limits memory to %s of the machine's %s.\n",
                    human_bytes((double)group->limit).s,
                    human_bytes((double)d->cpu.memory_total).s);
    }
}

static void advise_on_features(Doctor *d)
{
    if (!d->limits_stored) {
        text_puts(&d->advice,
                  "Run 'roofstep limits' once (some 20 s): bench then shows MFU and the share "
                  "of the limit.\n");
    }
    doctor_gpu_advise(&d->advice, &d->gpu, d->nvcc.there);
    if (!d->torch.there) {
        text_puts(&d->advice,
                  "To check exports against PyTorch, and for bench --peer torch: apt-get install "
                  "python3-torch, or pip install torch.\n");
    }
}

static void advise(Doctor *d)
{
    advise_on_processor(d);
    advise_on_memory(d);
    advise_on_clock(d);
    advise_on_features(d);
    if (d->advice.n == 0) text_puts(&d->advice, "Nothing to do: ready to measure.\n");
}

static Status examine(Doctor *d)
{
    LimitsKey key;
    *d = (Doctor){0};
    TRY(cpu_info_read(&d->cpu, ""));
    TRY(cpu_info_ticks(&d->ticks, ""));
    TRY(limits_key(0, &key));
    d->limits_stored = limits_load(&key, &d->limits);
    doctor_gpu_examine(&d->gpu);
    d->nvcc = doctor_probe_nvcc();
    d->torch = doctor_probe_torch();
    d->node = doctor_probe_node();
    d->sqlite = doctor_probe_sqlite();
    list_features(d);
    advise(d);
    return ST_OK;
}

/* ---- for people ---- */

static void put_machine(Text *out, const Doctor *d)
{
    const CpuInfo *cpu = &d->cpu;
    text_printf(
        out, "## Machine\n\n- CPU: %s (%s); cores %d, processors %d, sockets %d, NUMA nodes %d\n",
        cpu->name, cpu->arch, cpu->physical, cpu->online, cpu->sockets, cpu->nodes);
    text_printf(out, "- usable here: cores %d, processors %d", cpu->usable_cores, cpu->usable);
    if (cpu->quota > 0) text_printf(out, "; cgroup quota %.2f processors", cpu->quota);
    text_printf(out, "\n- features: %s", cpu->features);
    const CpuFeatureList hidden = cpu_features_hidden(cpu->features);
    text_printf(out, *hidden.s ? "; hidden by ROOFSTEP_CPU_HIDE: %s\n" : "%s\n", hidden.s);
    text_printf(out, "- caches: %s L1d, %s L2, %d x %s L3\n", human_bytes((double)cpu->l1d).s,
                human_bytes((double)cpu->l2).s, cpu->l3_instances, human_bytes((double)cpu->l3).s);
    text_printf(out, "- memory: %s, of which %s can be taken now; cgroup limit: %s\n",
                human_bytes((double)cpu->memory_total).s,
                human_bytes((double)cpu_info_memory_left(cpu)).s,
                cpu->cgroup.limited ? human_bytes((double)cpu->cgroup.limit).s : "none");
    text_printf(out, "- clock: governor %s, ", *cpu->governor ? cpu->governor : "not shown");
    text_printf(out, cpu->mhz > 0 ? "%.0f MHz now\n" : "frequency not shown\n", cpu->mhz);
    text_printf(out, "- huge pages: %s\n", *cpu->huge_pages ? cpu->huge_pages : "not shown");
    text_printf(out, "- load: %.2f; stolen by the host since start: %.2f %%\n", cpu->load,
                steal_percent(d));
}

static void put_build(Text *out, const CpuInfo *cpu)
{
    text_printf(out, "\n## Build\n\n- roofstep %s, commit %s\n- compiler: %s, %s\n- BLAS: %s\n",
                ROOFSTEP_VERSION, ROOFSTEP_COMMIT, ROOFSTEP_COMPILER, ROOFSTEP_FLAGS,
                blas_cpu_name());
    text_printf(out, "- OpenMP: %d, %d threads by default\n- jansson %s, zlib %s\n", _OPENMP,
                cpu_threads_usual(cpu), jansson_version_str(), zlibVersion());
}

/* Lines "yes\tname\ttext". */
static void put_features(Text *out, const char *line)
{
    text_puts(out, "\n## Features\n\n");
    while (*line) {
        const size_t length = strcspn(line, "\n"), word = strcspn(line, "\t");
        const char *name = line + word + 1;
        const size_t name_length = strcspn(name, "\t");
        text_printf(out, "- [%s] %.*s: %.*s\n", *line == 'y' ? "x" : " ", (int)name_length, name,
                    (int)(length - word - name_length - 2), name + name_length + 1);
        line += length + 1;
    }
}

static void put_advice(Text *out, const char *line)
{
    text_puts(out, "\n## Advice\n\n");
    for (; *line; line += strcspn(line, "\n") + 1) {
        text_printf(out, "- %.*s\n", (int)strcspn(line, "\n"), line);
    }
}

/* ---- for programs ---- */

static json_t *features_json(const char *line)
{
    json_t *list = json_array();
    for (; *line; line += strcspn(line, "\n") + 1) {
        char answer[4], name[64], text[512];
        if (sscanf(line, "%3[^\t]\t%63[^\t]\t%511[^\n]", answer, name, text) != 3) continue;
        json_array_append_new(list, json_pack("{s:s, s:b, s:s}", "name", name, "there",
                                              strcmp(answer, "yes") == 0, "detail", text));
    }
    return list;
}

static json_t *advice_json(const char *line)
{
    json_t *list = json_array();
    for (; *line; line += strcspn(line, "\n") + 1) {
        json_array_append_new(list, json_stringn(line, strcspn(line, "\n")));
    }
    return list;
}

static Status put_json(Text *out, const Doctor *d, const char *command)
{
    json_t *environment;
    TRY(environment_new(&environment, command));
    json_t *all = json_pack("{s:i, s:o, s:o*, s:o*}", "schema", 1, "environment", environment,
                            "features", features_json(text_str(&d->features)), "advice",
                            advice_json(text_str(&d->advice)));
    if (!all) return NO_MEMORY("for the result as JSON");
    const Status status = output_json(out, all);
    json_decref(all);
    return status;
}

static Status put_text(Text *out, const Doctor *d)
{
    Text all = {0};
    put_machine(&all, d);
    doctor_gpu_put(&all, &d->gpu);
    put_build(&all, &d->cpu);
    put_features(&all, text_str(&d->features));
    put_advice(&all, text_str(&d->advice));
    escape_put(out, ESCAPE_SCREEN, text_str(&all));
    out->failed = out->failed || all.failed;
    text_free(&all);
    return text_status(out);
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)sweep;
    (void)exit_code;
    Doctor d;
    Text text = {0};
    Status status = examine(&d);
    if (status == ST_OK) status = text_status(&d.features);
    if (status == ST_OK) status = text_status(&d.advice);
    if (status == ST_OK) {
        const bool json = strcmp(settings->format, "json") == 0;
        status = json ? put_json(&text, &d, settings->command_line) : put_text(&text, &d);
    }
    if (status == ST_OK) status = output_text(settings, &text);
    text_free(&text);
    text_free(&d.features);
    text_free(&d.advice);
    return status;
}

const Command cmd_doctor = {
    .name = "doctor",
    .summary = "what this machine and this build have, and what is missing",
    .help = "Ends with advice. Exit code 0 whatever it finds.\n\n"
            "  roofstep doctor\n"
            "  roofstep doctor --format json\n",
    .options = {.taken = OPTIONS_OUTPUT, .formats = "md json"},
    .run = run,
};
