#include "cli/other_machine.h"

#include "bench/limits/limits_json.h"
#include "bench/record/record.h"
#include "ops/gpu_support.h"

static const int cublaslt_mib = GPU_SUPPORT_CUBLASLT >> 20, cudnn_mib = GPU_SUPPORT_CUDNN >> 20;

static bool is_unseen_gpu(const Placement *placement)
{
    return placement->backend != BACKEND_cpu && !placement->here;
}

Status other_machine_check(const Settings *settings, bool runs_nothing, const char *option)
{
    if (!settings->limits || runs_nothing) return ST_OK;
    return FAIL(ST_USAGE, "--limits FILE plans for another machine and runs nothing: add %s",
                option);
}

Status other_machine_read(const Settings *settings, Limits *limits, const Limits **machine)
{
    *machine = NULL;
    if (!settings->limits) return ST_OK;
    const Status status = limits_json_read_file(limits, settings->limits);
    if (status != ST_OK) {
        status_context("--limits");
        return status;
    }
    *machine = limits;
    return ST_OK;
}

void other_machine_note(Table *table, const Placement *placement, const Limits *machine)
{
    if (machine)
        table_note_printf(table, "planned for another machine: %s, by its limits of %s",
                          limits_device_name(machine).s, machine->time_utc);
    if (machine && machine->cache_bytes == 0)
        table_note(table,
                   "its limits file has no cache sizes: least times assume that every operand goes "
                   "through memory");
    if (!is_unseen_gpu(placement)) return;
    table_note_printf(
        table,
        "no GPU was queried: workspaces of libraries are from a table (cuBLASLt %d MiB "
        "a product, cuDNN %d MiB an attention), and what a CUDA context takes is not "
        "counted",
        cublaslt_mib, cudnn_mib);
}

Status other_machine_json(json_t *json, const Placement *placement, const Limits *machine)
{
    if (machine) TRY(record_put_text(json, "limits_of", limits_device_name(machine).s));
    if (!is_unseen_gpu(placement)) return ST_OK;
    TRY(record_put_text(json, "workspaces.from", "table"));
    TRY(record_put_int(json, "workspaces.cublaslt_mib", cublaslt_mib));
    return record_put_int(json, "workspaces.cudnn_mib", cudnn_mib);
}
