#include "backend/nvml_info.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NVML's own numbers (docs.nvidia.com/deploy/nvml-api), so that its header is not needed. */
typedef struct NvmlDevice *Device;
typedef struct NvmlMemory {
    unsigned long long total, unused, used;
} NvmlMemory;
typedef struct NvmlPci { /* nvmlPciInfo_t */
    char short_id[16];
    unsigned domain, bus, device, pci_id, subsystem_id;
    char bus_id[32];
} NvmlPci;
typedef struct NvmlUtilization { /* nvmlUtilization_t: per cent of the last sample period */
    unsigned gpu, memory;
} NvmlUtilization;
enum { SUCCESS = 0, CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0 };
enum { REASONS = 0xec }; /* all of nvml_info_next_reason() */

/* FUNCTION(field, name in the library, parameters); each may be missing in an old driver. */
#define FUNCTIONS(FUNCTION)                                                                 \
    FUNCTION(init, "nvmlInit_v2", (void))                                                   \
    FUNCTION(shutdown, "nvmlShutdown", (void))                                              \
    FUNCTION(driver, "nvmlSystemGetDriverVersion", (char *, unsigned))                      \
    FUNCTION(cuda, "nvmlSystemGetCudaDriverVersion_v2", (int *))                            \
    FUNCTION(by_index, "nvmlDeviceGetHandleByIndex_v2", (unsigned, Device *))               \
    FUNCTION(by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2", (const char *, Device *))       \
    FUNCTION(by_uuid, "nvmlDeviceGetHandleByUUID", (const char *, Device *))                \
    FUNCTION(name, "nvmlDeviceGetName", (Device, char *, unsigned))                         \
    FUNCTION(pci, "nvmlDeviceGetPciInfo_v3", (Device, NvmlPci *))                           \
    FUNCTION(clock, "nvmlDeviceGetClockInfo", (Device, int, unsigned *))                    \
    FUNCTION(max_clock, "nvmlDeviceGetMaxClockInfo", (Device, int, unsigned *))             \
    FUNCTION(power, "nvmlDeviceGetPowerUsage", (Device, unsigned *))                        \
    FUNCTION(power_limit, "nvmlDeviceGetEnforcedPowerLimit", (Device, unsigned *))          \
    FUNCTION(energy, "nvmlDeviceGetTotalEnergyConsumption", (Device, unsigned long long *)) \
    FUNCTION(temperature, "nvmlDeviceGetTemperature", (Device, int, unsigned *))            \
    FUNCTION(memory, "nvmlDeviceGetMemoryInfo", (Device, NvmlMemory *))                     \
    FUNCTION(utilization, "nvmlDeviceGetUtilizationRates", (Device, NvmlUtilization *))     \
    FUNCTION(count, "nvmlDeviceGetCount_v2", (unsigned *))                                  \
    FUNCTION(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons", (Device, unsigned long long *))

struct NvmlInfo {
    void *library;
    bool loaded; /* and init() has succeeded */
    Device device;
#define FUNCTION(field, symbol, parameters) int(*field) parameters;
    FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* ---- the library ---- */

/* ISO C has no cast from an object's address to a function's. */
static void find(void *library, const char *symbol, void *function, size_t size)
{
    void *const address = dlsym(library, symbol);
    memcpy(function, &address, size);
}

static bool load(NvmlInfo *gpu)
{
    const char *own = getenv("ROOFSTEP_NVML");
    gpu->library = dlopen(own && *own ? own : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!gpu->library) return false;
#define FUNCTION(field, symbol, parameters) \
    find(gpu->library, symbol, &gpu->field, sizeof gpu->field);
    FUNCTIONS(FUNCTION)
#undef FUNCTION
    return gpu->loaded = gpu->init && gpu->init() == SUCCESS;
}

/* Calls a function of the library with these arguments. False: it is missing, or fails. */
#define ASK(gpu, function, ...) ((gpu)->function && (gpu)->function(__VA_ARGS__) == SUCCESS)

static bool select_device(NvmlInfo *gpu, const char *which)
{
    if (strchr(which, ':')) return ASK(gpu, by_bus_id, which, &gpu->device);
    if (which[0] == 'G') return ASK(gpu, by_uuid, which, &gpu->device);
    if (which[0] < '0' || which[0] > '9') return false;
    return ASK(gpu, by_index, (unsigned)strtoul(which, NULL, 10), &gpu->device);
}

/* "1,0" -> "1"; an empty list leaves no GPU at all. */
static void first_visible(char text[64])
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    snprintf(text, 64, "%s", list ? list : "0");
    text[strcspn(text, ", ")] = '\0';
}

static void unload(NvmlInfo *gpu)
{
    if (gpu->loaded && gpu->shutdown) gpu->shutdown();
    if (gpu->library) dlclose(gpu->library);
}

NvmlInfo *nvml_info_open(const char *which)
{
    char first[64];
    first_visible(first);
    NvmlInfo *gpu = calloc(1, sizeof *gpu);
    if (gpu && load(gpu) && select_device(gpu, which ? which : first)) return gpu;
    nvml_info_close(gpu);
    return NULL;
}

void nvml_info_close(NvmlInfo *gpu)
{
    if (gpu) unload(gpu);
    free(gpu);
}

/* ---- readings ---- */

typedef int ClockFn(Device, int, unsigned *);
typedef int NumberFn(Device, unsigned *);

static int mhz(const NvmlInfo *gpu, ClockFn *function, int clock)
{
    unsigned value = 0;
    return function && function(gpu->device, clock, &value) == SUCCESS ? (int)value : 0;
}

/* Milliwatts to watts. */
static double watts(const NvmlInfo *gpu, NumberFn *function)
{
    unsigned value = 0;
    return function && function(gpu->device, &value) == SUCCESS ? value * 1e-3 : (double)NAN;
}

static uint64_t throttle_of(const NvmlInfo *gpu)
{
    unsigned long long reasons = 0;
    return ASK(gpu, throttle, gpu->device, &reasons) ? reasons : 0;
}

static void read_names(const NvmlInfo *gpu, NvmlReading *out)
{
    NvmlPci pci = {0};
    int cuda = 0;
    if (!ASK(gpu, name, gpu->device, out->name, sizeof out->name)) out->name[0] = '\0';
    if (!ASK(gpu, driver, out->driver, sizeof out->driver)) out->driver[0] = '\0';
    if (ASK(gpu, cuda, &cuda))
        snprintf(out->cuda, sizeof out->cuda, "%d.%d", cuda / 1000, cuda % 1000 / 10);
    if (ASK(gpu, pci, gpu->device, &pci))
        snprintf(out->bus_id, sizeof out->bus_id, "%.31s", pci.bus_id);
}

void nvml_info_read(NvmlInfo *gpu, NvmlReading *out)
{
    unsigned celsius = 0;
    NvmlMemory memory = {0};
    *out = (NvmlReading){.celsius = (double)NAN};
    read_names(gpu, out);
    out->sm_mhz = mhz(gpu, gpu->clock, CLOCK_SM);
    out->sm_max_mhz = mhz(gpu, gpu->max_clock, CLOCK_SM);
    out->memory_mhz = mhz(gpu, gpu->clock, CLOCK_MEMORY);
    out->memory_max_mhz = mhz(gpu, gpu->max_clock, CLOCK_MEMORY);
    out->watts = watts(gpu, gpu->power);
    out->limit_watts = watts(gpu, gpu->power_limit);
    if (ASK(gpu, temperature, gpu->device, SENSOR_GPU, &celsius)) out->celsius = celsius;
    if (ASK(gpu, memory, gpu->device, &memory)) {
        out->memory_total = (int64_t)memory.total;
        out->memory_used = (int64_t)memory.used;
    }
    out->throttle = throttle_of(gpu);
}

bool nvml_info_energy(NvmlInfo *gpu, double *joules)
{
    unsigned long long millijoules = 0;
    if (!ASK(gpu, energy, gpu->device, &millijoules)) return false;
    *joules = (double)millijoules * 1e-3;
    return true;
}

bool nvml_info_utilization(NvmlInfo *gpu, double *share)
{
    NvmlUtilization utilization = {0};
    if (!ASK(gpu, utilization, gpu->device, &utilization)) return false;
    *share = utilization.gpu * 1e-2;
    return true;
}

static void read_memory_used(NvmlInfo *gpu, NvmlMemoryUsed *out)
{
    NvmlReading reading;
    nvml_info_read(gpu, &reading);
    snprintf(out->bus_id, sizeof out->bus_id, "%s", reading.bus_id);
    out->bytes = reading.memory_used;
}

int nvml_info_memory_used(NvmlMemoryUsed *list, int most)
{
    NvmlInfo gpu = {0};
    unsigned count = 0;
    int n = 0;
    const bool known = load(&gpu) && ASK(&gpu, count, &count);
    for (unsigned i = 0; known && i < count && n < most; i++) {
        if (ASK(&gpu, by_index, i, &gpu.device)) read_memory_used(&gpu, &list[n++]);
    }
    unload(&gpu);
    return n;
}

uint64_t nvml_info_throttled(NvmlInfo *gpu)
{
    return throttle_of(gpu) & REASONS;
}

const char *nvml_info_next_reason(uint64_t *reasons)
{
    static const struct {
        uint64_t bit;
        const char *text;
    } names[] = {
        {0x4, "power limit"},      {0x8, "hardware slowdown"}, {0x20, "heat (driver)"},
        {0x40, "heat (hardware)"}, {0x80, "power brake"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(*reasons & names[i].bit)) continue;
        *reasons &= ~names[i].bit;
        return names[i].text;
    }
    return NULL;
}
