#include "cli/other_machine.h"

#include "bench/estimate/fit.h"
#include "bench/limits/datasheet.h"
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
    if ((!settings->limits && !settings->gpu) || runs_nothing) return ST_OK;
    return FAIL(ST_USAGE, "--%s plans for another machine and runs nothing: add %s",
                settings->limits ? "limits FILE" : "gpu NAME", option);
}

static Status by_datasheet(const Settings *settings, Limits *limits, const Limits **machine)
{
    const Datasheet *sheet;
    if (settings->limits)
        return FAIL(ST_USAGE, "--gpu and --limits both name a machine: give one of them");
    TRY(datasheet_named(settings->gpu, &sheet));
    datasheet_limits(sheet, limits);
    *machine = limits;
    return ST_OK;
}

Status other_machine_read(const Settings *settings, Limits *limits, const Limits **machine)
{
    *machine = NULL;
    if (settings->gpu) return by_datasheet(settings, limits, machine);
    if (!settings->limits) return ST_OK;
    const Status status = limits_json_read_file(limits, settings->limits);
    if (status != ST_OK) {
        status_context("--limits");
        return status;
    }
    *machine = limits;
    return ST_OK;
}

static void note_machine(Table *table, const Limits *machine)
{
    const char *sheet = machine->datasheet;
    const LimitsDeviceName device = limits_device_name(machine);
    if (sheet)
        table_note_printf(table,
                          "planned for another machine: %s, by NVIDIA's figures (%s), which no "
                          "program reaches: --limits FILE plans by what was measured there",
                          device.s, sheet);
    else
        table_note_printf(table, "planned for another machine: %s, by its limits of %s", device.s,
                          machine->time_utc);
    if (machine->cache_bytes == 0)
        table_note_printf(table,
                          "its %s no cache sizes: least times assume that every operand goes "
                          "through memory",
                          sheet ? "data sheet has" : "limits file has");
}

void other_machine_memory_note(Table *table, const Limits *machine)
{
    if (!*machine->key.gpu || machine->memory_bytes == 0) return;
    table_note_printf(table,
                      "its memory is less %d MiB that a CUDA context and the libraries take on an "
                      "H200; what the driver keeps for itself is not known",
                      FIT_CONTEXT_MIB);
}

void other_machine_note(Table *table, const Placement *placement, const Limits *machine)
{
    if (machine) note_machine(table, machine);
    if (machine) other_machine_memory_note(table, machine);
    if (!is_unseen_gpu(placement)) return;
    table_note_printf(
        table,
        "no GPU was queried: workspaces of libraries are from a table (cuBLASLt %d MiB "
        "a product, cuDNN %d MiB an attention)%s",
        cublaslt_mib, cudnn_mib, machine ? "" : ", and what a CUDA context takes is not counted");
}

Status other_machine_json(json_t *json, const Placement *placement, const Limits *machine)
{
    if (machine) TRY(record_put_text(json, "limits_of", limits_device_name(machine).s));
    if (machine && machine->datasheet)
        TRY(record_put_text(json, "limits_from", machine->datasheet));
    if (machine && *machine->key.gpu) TRY(record_put_int(json, "context_mib", FIT_CONTEXT_MIB));
    if (!is_unseen_gpu(placement)) return ST_OK;
    TRY(record_put_text(json, "workspaces.from", "table"));
    TRY(record_put_int(json, "workspaces.cublaslt_mib", cublaslt_mib));
    return record_put_int(json, "workspaces.cudnn_mib", cudnn_mib);
}
