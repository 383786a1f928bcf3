/* Memory is mapped, not touched: pages become resident as the step writes them. Large ones where the kernel
 * has them: in a virtual machine products are 3 % faster with them (docs/results/tried.md). */
#include "backend/backend.h"
#include "backend/cpu_info.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static Status open_device(Backend **out, int device)
{
    (void)device;
    *out = NULL;
    return ST_OK;
}

static void close_device(Backend *be)
{
    (void)be;
}

static Status available(Backend *be, size_t *bytes)
{
    (void)be;
    return cpu_info_memory_available(bytes);
}

static Status alloc(Backend *be, size_t bytes, void **out)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        size_t left = 0;
        (void)available(be, &left);
        return FAIL(ST_NO_MEMORY, "cpu: needs %.2f GiB more, %.2f GiB available",
                    (double)bytes / 0x1p30, (double)left / 0x1p30);
    }
    (void)madvise(at, bytes, MADV_HUGEPAGE);
    *out = at;
    return ST_OK;
}

static void release(Backend *be, void *memory, size_t bytes)
{
    (void)be;
    munmap(memory, bytes);
}

static Status copy(Backend *be, void *dst, const void *src, size_t bytes)
{
    (void)be;
    memcpy(dst, src, bytes);
    return ST_OK;
}

static Status clear(Backend *be, void *dst, size_t bytes)
{
    (void)be;
    memset(dst, 0, bytes);
    return ST_OK;
}

/* Pages that are there; those never written are not. Memory that MPI shares need not begin with a page. */
static Status touched(Backend *be, const void *memory, size_t bytes, size_t *held)
{
    enum { PAGES = 1 << 16 };
    static unsigned char there[PAGES];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)memory % page;
    char *first = (char *)memory - before;
    (void)be;
    *held = 0;
    bytes += before;
    for (size_t at = 0; at < bytes; at += PAGES * page) {
        const size_t n = bytes - at < PAGES * page ? bytes - at : PAGES * page;
        if (mincore(first + at, n, there) != 0)
            return FAIL(ST_FAILED, "cpu: the kernel does not tell which pages are there");
        for (size_t i = 0; i < (n + page - 1) / page; i++) *held += (there[i] & 1) != 0 ? page : 0;
    }
    return ST_OK;
}

static Status sync_device(Backend *be)
{
    (void)be;
    return ST_OK;
}

extern const BackendApi cpu_backend;
const BackendApi cpu_backend = {
    .name = "cpu",
    .open = open_device,
    .close = close_device,
    .alloc = alloc,
    .release = release,
    .upload = copy,
    .download = copy,
    .clear = clear,
    .sync = sync_device,
    .available = available,
    .touched = touched,
};
