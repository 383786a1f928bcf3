/* CPUID says what the processor has, XCR0 which registers the kernel keeps for a thread; without the
 * second the instructions fault. AMX's tiles are asked for once in the life of a process. */
#include "backend/cpu_features.h"

#include <cpuid.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EAX, EBX, ECX, EDX };
/* Bits of XCR0. */
enum { YMM = 0x6, ZMM = 0xe6, TILES = 0x60000 };

typedef struct Feature {
    const char *word;
    unsigned leaf, subleaf;
    int where, bit;
    uint64_t registers;
    atomic_int known; /* 0: not asked yet; CPUID is slow in a virtual machine */
} Feature;

static Feature features[] = {
    {.word = "avx2", .leaf = 7, .where = EBX, .bit = 5, .registers = YMM},
    {.word = "fma", .leaf = 1, .where = ECX, .bit = 12, .registers = YMM},
    {.word = "f16c", .leaf = 1, .where = ECX, .bit = 29, .registers = YMM},
    {.word = "avx512f", .leaf = 7, .where = EBX, .bit = 16, .registers = ZMM},
    {.word = "avx512bw", .leaf = 7, .where = EBX, .bit = 30, .registers = ZMM},
    {.word = "avx512vl", .leaf = 7, .where = EBX, .bit = 31, .registers = ZMM},
    {.word = "avx512_bf16", .leaf = 7, .subleaf = 1, .where = EAX, .bit = 5, .registers = ZMM},
    {.word = "amx_tile", .leaf = 7, .where = EDX, .bit = 24, .registers = TILES},
    {.word = "amx_bf16", .leaf = 7, .where = EDX, .bit = 22, .registers = TILES},
};

static uint64_t kept_registers(void)
{
    unsigned r[4], low, high;
    if (!__get_cpuid(1, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) || !(r[ECX] & bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* Linux hands the 8 KiB of tiles out on request (5.16 and newer; older kernels say no). */
static bool tiles_granted(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

static bool ask(const Feature *f)
{
    unsigned r[4];
    if (!__get_cpuid_count(f->leaf, f->subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX])) return false;
    if (!(r[f->where] >> f->bit & 1) || (kept_registers() & f->registers) != f->registers)
        return false;
    return f->registers != TILES || tiles_granted();
}

bool cpu_features_hardware(const char *word)
{
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        Feature *f = &features[i];
        if (strcmp(f->word, word) != 0) continue;
        int answer = atomic_load_explicit(&f->known, memory_order_relaxed);
        if (answer == 0) {
            answer = ask(f) ? 1 : -1;
            atomic_store_explicit(&f->known, answer, memory_order_relaxed);
        }
        return answer > 0;
    }
    return false;
}
