/* A driver with one GPU, number 1, bus id 0000:1B:00.0, UUID GPU-fake. FAKE_NVML holds letters:
 * i: it cannot be initialised; p: in use, slowed down by power and heat; e: it has no energy counter.
 * Every reading of its energy finds 5 J more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Memory {
    unsigned long long total, unused, used;
} Memory;
typedef struct Use {
    unsigned gpu, memory;
} Use;
typedef struct Pci {
    char short_id[16];
    unsigned domain, bus, device, pci_id, subsystem_id;
    char bus_id[32];
} Pci;

enum { OK = 0, INVALID = 2, UNSUPPORTED = 3, NOT_FOUND = 6, UNKNOWN = 999 };
static char gpu;

static int asked(char letter)
{
    const char *letters = getenv("FAKE_NVML");
    return letters && strchr(letters, letter);
}

static int found(int there, void **device)
{
    if (!there) return NOT_FOUND;
    *device = &gpu;
    return OK;
}

int nvmlInit_v2(void)
{
    return asked('i') ? UNKNOWN : OK;
}

int nvmlShutdown(void)
{
    return OK;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    return snprintf(text, size, "580.65.06") < (int)size ? OK : INVALID;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 13000;
    return OK;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 2; /* number 0 is another's */
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    return found(index == 1, device);
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device)
{
    return found(strcmp(bus_id, "0000:1B:00.0") == 0, device);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    return found(strcmp(uuid, "GPU-fake") == 0, device);
}

int nvmlDeviceGetName(const void *device, char *text, unsigned size)
{
    if (device != &gpu) return INVALID;
    return snprintf(text, size, "Fake H200") < (int)size ? OK : INVALID;
}

int nvmlDeviceGetPciInfo_v3(const void *device, Pci *pci)
{
    if (device != &gpu) return INVALID;
    snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:1B:00.0");
    return OK;
}

int nvmlDeviceGetClockInfo(const void *device, int clock, unsigned *mhz)
{
    *mhz = clock == 1 ? 1755 : clock == 2 ? 3201 : 0;
    return device == &gpu ? OK : INVALID;
}

int nvmlDeviceGetMaxClockInfo(const void *device, int clock, unsigned *mhz)
{
    *mhz = clock == 1 ? 1980 : clock == 2 ? 3201 : 0;
    return device == &gpu ? OK : INVALID;
}

int nvmlDeviceGetPowerUsage(const void *device, unsigned *milliwatts)
{
    *milliwatts = 612500;
    return device == &gpu ? OK : INVALID;
}

/* nvmlDeviceGetEnforcedPowerLimit is missing, as in an old driver. */

int nvmlDeviceGetTotalEnergyConsumption(const void *device, unsigned long long *millijoules)
{
    static unsigned long long used = 1000;
    *millijoules = used += 5000;
    return device != &gpu ? INVALID : asked('e') ? UNSUPPORTED : OK;
}

int nvmlDeviceGetTemperature(const void *device, int sensor, unsigned *celsius)
{
    *celsius = 54;
    return device == &gpu && sensor == 0 ? OK : INVALID;
}

int nvmlDeviceGetMemoryInfo(const void *device, Memory *memory)
{
    *memory = (Memory){150754820096ULL, 150754820096ULL - 1073741824ULL, 1073741824ULL};
    return device == &gpu ? OK : INVALID;
}

int nvmlDeviceGetUtilizationRates(const void *device, Use *use)
{
    *use = (Use){.gpu = asked('p') ? 75 : 0, .memory = 40};
    return device == &gpu ? OK : INVALID;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(const void *device, unsigned long long *reasons)
{
    *reasons = asked('p') ? 0x1 | 0x4 | 0x20 : 0x1 | 0x2; /* idle and set clocks slow nothing */
    return device == &gpu ? OK : INVALID;
}
