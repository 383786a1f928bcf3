#include "ops/cpu/matmul_choice_cpu.h"

#include "backend/cpu_info.h"
#include "base/clock.h"
#include "base/disk_cache.h"
#include "ops/cpu/matmul_cpu.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/simd_cpu/rows_cpu.h"
#include "version.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 256, OPERANDS = 3, ROUNDS = 5 };
static const double worth_it = 0.98; /* of our own time: less is noise */
static const double enough = 0.5;    /* seconds for one shape */

/* One file for each processor, library and version of our kernels. */
static Status choices(DiskCache **out)
{
    static DiskCache *table;
    CpuInfo cpu;
    char file[sizeof cpu.name + 128];
    if (!table) {
        TRY(cpu_info_read(&cpu, ""));
        snprintf(file, sizeof file, "products-%s-%s-%s", cpu.name, blas_cpu_name(),
                 ROOFSTEP_KERNELS);
        table = disk_cache_open(file, "choices of products");
    }
    *out = table;
    return table ? ST_OK : NO_MEMORY("for a table of products");
}

static void shape_key(const OpCall *call, char key[KEY])
{
    const NodeAttr *attr = &call->node->attr;
    const Tensor *c = op_out_shape(call, 0), *a = op_in_shape(call, 0), *b = op_in_shape(call, 1);
    snprintf(key, KEY,
             "%" PRId64 "x%" PRId64 "x%" PRId64 " ld %" PRId64 ",%" PRId64 ",%" PRId64
             " %s*%s=%s %c%c %d threads, %s",
             plan_rows(c), plan_width(c), attr->transpose_a ? plan_rows(a) : plan_width(a), a->ld,
             b->ld, c->ld, plan_dtype_name(a->dtype), plan_dtype_name(b->dtype),
             plan_dtype_name(c->dtype), attr->transpose_a ? 't' : 'n',
             attr->transpose_b ? 't' : 'n', call->threads,
             matmul_kernel(call->plan, call->node)->name);
}

/* ---- measuring ---- */

/* Operands of its own: those of the plan may be pages that were never touched, which a processor reads faster. */
static void *ones(const Tensor *t)
{
    const int64_t n = (plan_rows(t) - 1) * t->ld + plan_width(t);
    char *data = malloc((size_t)n * plan_dtype_size(t->dtype));
    float row[ROWS_CHUNK];
    for (int i = 0; i < ROWS_CHUNK; i++) row[i] = 1;
    for (int64_t i = 0; data && i < n; i += ROWS_CHUNK) {
        rows_cpu_store(rows_cpu_at(data, t->dtype, i), row, t->dtype,
                       n - i < ROWS_CHUNK ? n - i : ROWS_CHUNK);
    }
    return data;
}

static Status seconds_of(const OpCall *call, const OpImpl *impl, double *least)
{
    const double start = clock_seconds();
    TRY(impl->run(call));
    const double seconds = clock_seconds() - start;
    if (seconds < *least) *least = seconds;
    return ST_OK;
}

/* In turn, the least of each; the first round, which starts threads and libraries, does not count. */
static Status measure(const OpCall *call, const OpImpl *own, const OpImpl *system, bool *own_wins)
{
    double of_own = 0, of_system = 0;
    const double start = clock_seconds();
    for (int i = 0; i <= ROUNDS && (i < 2 || clock_seconds() - start < enough); i++) {
        if (i <= 1) of_own = of_system = 1e30;
        TRY(seconds_of(call, own, &of_own));
        TRY(seconds_of(call, system, &of_system));
    }
    *own_wins = of_system >= worth_it * of_own;
    return ST_OK;
}

static Status measure_apart(const OpCall *call, const OpImpl *own, const OpImpl *system,
                            bool *own_wins)
{
    const int ids[OPERANDS] = {plan_out_id(call->plan, call->node, 0),
                               plan_in_id(call->plan, call->node, 0),
                               plan_in_id(call->plan, call->node, 1)};
    const size_t bytes = (size_t)call->plan->n_tensors * sizeof(void *);
    void **memory = malloc(bytes), *mine[OPERANDS] = {NULL};
    bool whole = memory != NULL;
    if (whole) memcpy(memory, call->memory, bytes);
    for (int i = 0; whole && i < OPERANDS; i++) {
        memory[ids[i]] = mine[i] = ones(&call->plan->tensors[ids[i]]);
        whole = mine[i] != NULL;
    }
    OpCall apart = *call;
    apart.memory = memory;
    const Status status = whole ? measure(&apart, own, system, own_wins)
                                : NO_MEMORY("to measure products with: "
                                            "--blas auto measures nothing");
    for (int i = 0; i < OPERANDS; i++) free(mine[i]);
    free(memory);
    return status;
}

/* ---- the choice ---- */

Status matmul_choice_cpu(const OpCall *call, const OpImpl *own, const OpImpl *system,
                         const OpImpl **faster)
{
    char key[KEY];
    DiskCache *table = NULL;
    TRY(choices(&table));
    shape_key(call, key);
    const char *kept = disk_cache_get(table, key);
    const bool useless = kept && strcmp(kept, "own") != 0 && strcmp(kept, "system") != 0;
    if (!kept || useless) {
        bool own_wins = true;
        TRY(measure_apart(call, own, system, &own_wins));
        TRY(disk_cache_put(table, key, own_wins ? "own" : "system", useless));
        kept = disk_cache_get(table, key);
    }
    *faster = kept && strcmp(kept, "system") == 0 ? system : own;
    return ST_OK;
}
