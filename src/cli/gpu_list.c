#include "base/human.h"
#include "bench/limits/datasheet.h"
#include "cli/name_list.h"

static void put_rate(Table *table, double rate, double unit)
{
    if (rate > 0)
        table_cell_printf(table, "%.4g", rate / unit);
    else
        table_dashes(table, 1);
}

static void add_row(Table *table, const Datasheet *sheet)
{
    static const LimitId rates[] = {LIMIT_FP32_LARGEST, LIMIT_TF32_LARGEST, LIMIT_BF16_LARGEST,
                                    LIMIT_FP16_LARGEST, LIMIT_FP8_LARGEST};
    TABLE_CELLS(table, sheet->name, sheet->gpu);
    table_cell_printf(table, "%.1f", (double)sheet->memory_mib / 1024);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        put_rate(table, sheet->rate[rates[i]], 1e12);
    put_rate(table, sheet->rate[LIMIT_READ], 1e9);
    table_cell_printf(table, "%d", sheet->multiprocessors);
    put_rate(table, (double)sheet->cache_mib, 1);
    put_rate(table, sheet->watts, 1);
}

static void put_most(Text *out)
{
    const Datasheet *memory = datasheet_table, *rate = datasheet_table;
    for (const Datasheet *sheet = datasheet_table; sheet->name; sheet++) {
        if (sheet->memory_mib > memory->memory_mib) memory = sheet;
        if (sheet->rate[LIMIT_BF16_LARGEST] > rate->rate[LIMIT_BF16_LARGEST]) rate = sheet;
    }
    text_printf(out, "Most memory: %s, %.1f GiB; fastest in bf16: %s, %.4g TFLOP/s.", memory->name,
                (double)memory->memory_mib / 1024, rate->name,
                rate->rate[LIMIT_BF16_LARGEST] / 1e12);
}

Status gpu_list_fill(Table *table, Text *conclusion)
{
    table->title = "GPUs by their data sheets";
    TABLE_COLUMNS(table, 2, "--gpu", "GPU", "GiB", "fp32", "tf32", "bf16", "fp16", "fp8", "GB/s",
                  "SMs", "L2 MiB", "W");
    TABLE_SPARE(table, "GPU", "L2 MiB", "SMs", "tf32", "fp16");
    for (const Datasheet *sheet = datasheet_table; sheet->name; sheet++) add_row(table, sheet);
    table_note(table, "TFLOP/s of matrix multiplications without sparsity, 16 and 8 bits summed in "
                      "fp32, as NVIDIA's data sheets and whitepapers have them; -: none, or the "
                      "document does not say");
    table_note(table, "--limits FILE plans by what 'roofstep limits --format json' measured there");
    put_most(conclusion);
    return ST_OK;
}
