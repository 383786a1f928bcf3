#include "bench/limits/placement.h"

#include "backend/cpu_threads.h"
#include "base/i64.h"
#include "bench/limits/fp8_linears.h"
#include "ops/gpu_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static BackendId find(const char *name, size_t n)
{
    for (int id = 0; id < BACKEND_COUNT; id++) {
        const char *other = backend_api((BackendId)id)->name;
        if (strlen(other) == n && strncmp(other, name, n) == 0) return (BackendId)id;
    }
    return BACKEND_COUNT;
}

/* The last in the list that is there: accelerators come after the CPU. */
static BackendId best(void)
{
    for (int id = BACKEND_COUNT - 1; id > BACKEND_cpu; id--) {
        if (backend_api((BackendId)id)->capability(0) > 0) return (BackendId)id;
    }
    return BACKEND_cpu;
}

static void put_name(Placement *p)
{
    if (p->backend == BACKEND_cpu)
        snprintf(p->name, sizeof p->name, "cpu");
    else
        snprintf(p->name, sizeof p->name, "%s:%d", backend_api(p->backend)->name, p->device);
}

static Status choose_device(const Config *config, Placement *p)
{
    const char *asked = config->device, *colon = strchr(asked, ':');
    p->backend = strcmp(asked, "auto") == 0
                     ? best()
                     : find(asked, colon ? (size_t)(colon - asked) : strlen(asked));
    if (p->backend == BACKEND_COUNT) return FAIL(ST_USAGE, "there is no device %s", asked);
    p->device = colon ? (int)strtol(colon + 1, NULL, 10) : 0; /* digits, or it was refused */
    put_name(p);
    return ST_OK;
}

static Status check_cpu(const Config *config)
{
    if (config->precision == PRECISION_FP8 && config->fp8_layers == CONFIG_LINEARS_AUTO) {
        return FAIL(ST_UNSUPPORTED, "--fp8-layers auto measures where fp8 is faster, and on a CPU "
                                    "it is emulated: name the layers, as --fp8-layers w13+w2");
    }
    if (config->precision == PRECISION_TF32) {
        return FAIL(ST_UNSUPPORTED,
                    "tf32 is a format of GPU tensor cores: on a CPU use fp32 or bf16");
    }
    if (config->exec == EXEC_GRAPH) {
        return FAIL(ST_UNSUPPORTED, "--exec graph replays CUDA graphs: on a CPU use fused");
    }
    if (config->attention == ATTENTION_CUDNN) {
        return FAIL(ST_UNSUPPORTED, "--attention cudnn needs a GPU: on a CPU use flash");
    }
    return ST_OK;
}

/* Below it products in this precision are missing, or emulated so slowly that their time says
 * nothing about the chip. */
static const struct {
    int capability;
    const char *instead;
} precision_needs[PRECISION_COUNT] = {[PRECISION_TF32] = {80, "fp32 or fp16"},
                                      [PRECISION_BF16] = {80, "fp16 or fp32"},
                                      [PRECISION_FP16] = {53, "fp32"},
                                      [PRECISION_FP8] = {GPU_SUPPORT_FP8_CAPABILITY, "bf16"}};

static Status check_capability(const char *what, int needed, int capability, const char *instead)
{
    if (capability == 0 || capability >= needed) return ST_OK;
    return FAIL(ST_UNSUPPORTED,
                "%s needs a GPU of compute capability %d.%d, and this one has %d.%d: use %s", what,
                needed / 10, needed % 10, capability / 10, capability % 10, instead);
}

/* cuBLASLt multiplies with a scale for each row or block on one chip alone. */
static Status check_recipe(const Config *config, int capability)
{
    const bool whole =
        config->fp8_recipe == FP8_RECIPE_CURRENT || config->fp8_recipe == FP8_RECIPE_DELAYED;
    if (config->precision != PRECISION_FP8 || whole || capability == 0 ||
        capability == GPU_SUPPORT_FP8_ROWS_CAPABILITY)
        return ST_OK;
    return FAIL(ST_UNSUPPORTED,
                "--fp8-recipe %s needs a GPU of compute capability 9.0, and this one has %d.%d: "
                "use --fp8-recipe current or delayed",
                config_fp8_recipes[config->fp8_recipe], capability / 10, capability % 10);
}

Status placement_check_gpu(const Config *config, int capability)
{
    const Precision p = config->precision;
    TRY(check_capability(config_precisions[p], precision_needs[p].capability, capability,
                         precision_needs[p].instead));
    TRY(check_recipe(config, capability));
    if (config->attention != ATTENTION_CUDNN) return ST_OK;
    return check_capability("--attention cudnn", STEP_PLAN_CUDNN_CAPABILITY, capability,
                            "--attention fused");
}

static Status check_kernels(const Config *config)
{
    const bool wide = config->precision == PRECISION_FP32 || config->precision == PRECISION_TF32;
    if (config->attention == ATTENTION_CUDNN && wide) {
        return FAIL(ST_UNSUPPORTED, "cuDNN's attention is 16 bit only: use --precision bf16 or "
                                    "fp16, or --attention flash");
    }
    return ST_OK;
}

static Status check_fp8(const Config *config)
{
    if (config->precision != PRECISION_FP8) return ST_OK;
    if (config->subject == SUBJECT_ATTENTION)
        return FAIL(ST_UNSUPPORTED, "fp8 is of linear layers, and attention alone has none: use "
                                    "--precision bf16");
    if (config->ranks > 1)
        return FAIL(ST_UNSUPPORTED, "fp8 does not run on several ranks yet: use --precision bf16, "
                                    "or --ranks 1");
    return ST_OK;
}

Status placement_check_timed(const Config *config, const Placement *p)
{
    if (config->precision != PRECISION_FP8 || p->backend != BACKEND_cpu) return ST_OK;
    return FAIL(ST_UNSUPPORTED, "fp8 is emulated on a CPU, and its time and memory say nothing: "
                                "use bf16; precision and export show what fp8 does to the numbers");
}

/* Asks a GPU of this machine for its capability. What needs no look at it comes first: in a sweep that
 * is half a second for each cell that cannot be. */
static Status check_device(const Config *config, Placement *p)
{
    TRY(config_check_positions(config));
    if (p->backend == BACKEND_cpu) {
        TRY(check_cpu(config));
        return check_fp8(config);
    }
    TRY(check_kernels(config));
    if (p->here) p->capability = backend_api(p->backend)->capability(p->device);
    p->here = p->here && p->capability > 0;
    TRY(placement_check_gpu(config, p->capability));
    return check_fp8(config);
}

Status placement_of(const Config *config, Placement *p)
{
    *p = (Placement){.threads = (int)config->threads, .here = true};
    TRY(choose_device(config, p));
    TRY(check_device(config, p));
    if (p->threads > 0) return ST_OK;
    CpuInfo info;
    TRY(cpu_info_read(&info, ""));
    p->threads = config->ranks > 1 ? (int)i64_max(cpu_threads_processors() / config->ranks, 1)
                                   : cpu_threads_usual(&info);
    return ST_OK;
}

Status placement_on(const Config *config, const Limits *limits, Placement *p)
{
    if (!limits) return placement_of(config, p);
    const bool gpu = *limits->key.gpu != '\0', asked_gpu = strncmp(config->device, "cuda", 4) == 0;
    const int threads = config->threads > 0 ? (int)config->threads : limits->key.threads;
    *p = (Placement){.backend = gpu ? BACKEND_cuda : BACKEND_cpu,
                     .capability = limits->capability,
                     .threads = threads > 0 ? threads : 1};
    put_name(p);
    if (strcmp(config->device, "auto") != 0 && asked_gpu != gpu) {
        return FAIL(ST_USAGE, "%s of a %s (%s), and --device %s asks for another",
                    limits->datasheet ? "--gpu: the data sheet is" : "--limits: the file is",
                    gpu ? "GPU" : "CPU", limits_device_name(limits).s, config->device);
    }
    return check_device(config, p);
}

static Status check_threads(const Placement *p)
{
    const int most = cpu_threads_most();
    if (p->threads <= most) return ST_OK;
    return FAIL(ST_UNSUPPORTED,
                "--threads %d: OMP_THREAD_LIMIT in the environment allows %d; unset it, or use "
                "--threads %d",
                p->threads, most, most);
}

Status placement_find(const Config *config, Placement *p)
{
    TRY(placement_of(config, p));
    if (p->backend == BACKEND_cpu) return check_threads(p);
    if (p->here) return ST_OK;
    if (backend_api(p->backend)->absent) {
        return FAIL(
            ST_UNSUPPORTED,
            "device %s: this build has none; use --device cpu, or build with CUDA (roofstep "
            "doctor says what is missing)",
            config->device);
    }
    return FAIL(ST_UNSUPPORTED,
                "device %s: no such GPU can be used here (roofstep doctor says what is there); use "
                "--device cpu",
                config->device);
}

Status placement_settle_fp8(const Config *config, const Placement *p, Config *settled)
{
    return fp8_linears_settle(config, p->backend, p->here ? p->device : -1, p->threads, settled);
}

Status placement_plan(const Placement *p, const Config *config, Mode mode, Model *model,
                      Binding *binding)
{
    Config settled;
    TRY(placement_settle_fp8(config, p, &settled));
    return step_plan_make(model, binding, &settled, mode, p->backend, p->capability, p->threads);
}

Config placement_settle(const Config *config, const Placement *placement)
{
    Config settled = *config;
    snprintf(settled.device, sizeof settled.device, "%s", placement->name);
    settled.threads = placement->threads;
    return settled;
}
