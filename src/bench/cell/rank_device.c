#include "bench/cell/rank_device.h"

#include "backend/gpu_libraries.h"
#include "base/array.h"
#include "bench/cell/cell_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank_device_sharers(const double *of_ranks, int ranks, int rank)
{
    int n = 0;
    for (int r = 0; r < ranks; r++) n += of_ranks[r] == of_ranks[rank];
    return n;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL; /* FNV-1a */
    return (hash ^ 0xff) * 0x100000001b3ULL;
}

double rank_device_number(const char *machine, const char *bus_id)
{
    enum { EXACT = 53 }; /* bits that a double holds */
    const uint64_t hash = hash_text(hash_text(0xcbf29ce484222325ULL, machine), bus_id);
    return (double)(hash >> (64 - EXACT) | 1);
}

/* Hosts may have one name; no two have started at once with the same number. */
static void machine_name(char name[64])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    name[0] = '\0';
    if (!file) return;
    if (!fgets(name, 64, file)) name[0] = '\0';
    fclose(file);
}

/* Tells `comm` who shares what; the number of this rank's GPU, of which there are `devices` here. */
static Status check_sharing(Comm *comm, double number, int devices, bool share)
{
    const int ranks = comm_ranks(comm);
    CLEANUP(array_free) double *of_ranks = malloc((size_t)ranks * sizeof *of_ranks);
    if (!of_ranks) return NO_MEMORY("for %d ranks", ranks);
    TRY(cell_ranks_gather(comm, number, of_ranks));
    const int here = rank_device_sharers(of_ranks, ranks, comm_rank(comm));
    int most = 1;
    for (int r = 0; r < ranks; r++) {
        const int n = rank_device_sharers(of_ranks, ranks, r);
        if (n > most) most = n;
    }
    comm_gpu_share(comm, here, most > 1);
    if (most == 1 || share) return ST_OK;
    return FAIL(ST_UNSUPPORTED,
                "%d ranks would use one GPU (%d can be seen here): --share-gpu lets them, or use "
                "fewer --ranks, or --device cpu",
                most, devices);
}

Status rank_device_find(Comm *comm, Config *own)
{
    const BackendApi *api = backend_api(BACKEND_cuda);
    const char *colon = strchr(own->device, ':');
    char machine[64], bus_id[GPU_LIBRARIES_TEXT];
    if (strcmp(own->device, "cpu") == 0 || api->absent) return ST_OK;
    const int devices = api->count();
    if (devices == 0 && strcmp(own->device, "auto") == 0)
        snprintf(own->device, sizeof own->device, "cpu");
    if (devices == 0) return ST_OK;
    const int device = colon ? (int)strtol(colon + 1, NULL, 10) : comm_local_rank(comm) % devices;
    if (device >= devices) return ST_OK;
    snprintf(own->device, sizeof own->device, "%s:%d", api->name, device);
    machine_name(machine);
    if (!gpu_libraries_bus_id(device, bus_id))
        return FAIL(ST_DEVICE, "%s: CUDA does not say where this GPU is", own->device);
    return check_sharing(comm, rank_device_number(machine, bus_id), devices, own->share_gpu);
}

Status rank_device_join(Comm *comm, Placement *placement)
{
    if (placement->backend == BACKEND_cpu) return ST_OK;
    placement->sharing = comm_gpu_ranks(comm);
    return comm_gpu_join(comm, placement->device);
}
