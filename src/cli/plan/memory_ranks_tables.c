#include "base/array.h"
#include "bench/record/cell_label.h"
#include "cli/plan/memory_output.h"
#include "report/format/table_write.h"

#include <math.h>
#include <stdio.h>

Status memory_ranks_tables_of(MemoryRanks *ranks, const MemoryCell *cell)
{
    TRY(memory_rank_read(ranks, cell->measured));
    if (ranks->n > 0) return ST_OK;
    ranks->list[0] = cell->rank; /* there is room for one */
    ranks->n = 1;
    return ST_OK;
}

/* Puts what a row has after the cell and the rank. */
typedef void PutRank(Table *table, const char *label, const char *who, const MemoryRank *rank);

static Status put_cell(Table *table, PutRank *put, const Sweep *sweep, const MemoryCell *cell)
{
    MemoryRanks ranks = {0};
    const Status status = memory_ranks_tables_of(&ranks, cell);
    CLEANUP(array_free) MemoryRank *list = ranks.list;
    const CellLabel label = cell_label(cell->config, sweep->varies);
    char who[48];
    TRY(status);
    if (ranks.n == 1 || memory_rank_alike(&ranks)) {
        const MemoryRank all = memory_rank_largest(&ranks);
        snprintf(who, sizeof who, "each of %lld", (long long)cell->config->ranks);
        put(table, label.s, who, &all);
        return ST_OK;
    }
    for (int r = 0; r < ranks.n; r++) {
        snprintf(who, sizeof who, "%d", r);
        put(table, label.s, who, &list[r]);
    }
    return ST_OK;
}

static Status put_cells(Table *table, PutRank *put, const Sweep *sweep, const MemoryCell *cells)
{
    for (int i = 0; i < sweep->n; i++) {
        if (cells[i].unsupported || cells[i].config->ranks <= 1) continue;
        TRY(put_cell(table, put, sweep, &cells[i]));
    }
    return ST_OK;
}

static void put_figures(Table *table, const double *mib, MemoryRankFigure first,
                        MemoryRankFigure last)
{
    for (int f = (int)first; f <= (int)last; f++) table_cell_number(table, "%.1f", mib[f]);
}

/* ---- the fullest moment ---- */

static void put_peak(Table *table, const char *label, const char *who, const MemoryRank *rank)
{
    TABLE_CELLS(table, label, who);
    put_figures(table, rank->mib[MEMORY_RANK_PEAK], MEMORY_RANK_parameters, MEMORY_RANK_measured);
}

static Status peaks(Table *table, const Sweep *sweep, const MemoryCell *cells)
{
    table->title = "Memory of every rank at its peak";
    TABLE_COLUMNS(table, 2, "cell", "rank", "parameters (MiB)", "gradients (MiB)", "moments (MiB)",
                  "buckets (MiB)", "activations (MiB)", "workspace (MiB)", "peak (MiB)",
                  "planned, held (MiB)", "measured (MiB)");
    TABLE_SPARE(table, "workspace (MiB)", "activations (MiB)");
    TRY(put_cells(table, put_peak, sweep, cells));
    table_note(table, "peak: alive at once by plan, by use; buckets: what travels together; "
                      "activations with their gradients and the logits; workspace with inputs "
                      "and tables");
    table_note(table, "held: with what is alive no longer, since nothing is given back; measured "
                      "on the device after a step");
    return ST_OK;
}

/* ---- from the start to the end of the first step ---- */

static void put_moments(Table *table, const char *label, const char *who, const MemoryRank *rank)
{
    static const char *const when[MEMORY_RANK_MOMENTS] = {
        [MEMORY_RANK_INITIAL] = "after initialisation",
        [MEMORY_RANK_BEFORE] = "before the optimizer",
        [MEMORY_RANK_AFTER] = "after the optimizer"};
    for (int m = MEMORY_RANK_INITIAL; m < MEMORY_RANK_MOMENTS; m++) {
        const double *mib = rank->mib[m];
        if (isnan(mib[MEMORY_RANK_alive])) continue; /* there is no optimizer */
        TABLE_CELLS(table, label, who, when[m]);
        put_figures(table, mib, MEMORY_RANK_parameters, MEMORY_RANK_measured_rest);
    }
}

static Status moments(Table *table, const Sweep *sweep, const MemoryCell *cells)
{
    table->title = "Memory of every rank around the optimizer";
    TABLE_COLUMNS(table, 3, "cell", "rank", "when", "parameters (MiB)", "gradients (MiB)",
                  "moments (MiB)", "buckets (MiB)", "activations (MiB)", "workspace (MiB)",
                  "alive (MiB)", "planned, held (MiB)", "measured (MiB)",
                  "measured parameters (MiB)", "measured moments (MiB)", "measured rest (MiB)");
    TABLE_SPARE(table, "measured rest (MiB)", "workspace (MiB)", "activations (MiB)",
                "measured parameters (MiB)");
    TRY(put_cells(table, put_moments, sweep, cells));
    table_note(table, "alive by plan, around the optimizer in a later step; m and v are held from "
                      "the start, and empty until the first optimizer step");
    return ST_OK;
}

Status memory_ranks_tables(Text *out, const char *format, const Sweep *sweep,
                           const MemoryCell *cells)
{
    CLEANUP(table_free) Table table = {0};
    bool any = false;
    for (int i = 0; i < sweep->n; i++)
        any = any || (!cells[i].unsupported && cells[i].config->ranks > 1);
    if (!any) return ST_OK;
    TRY(peaks(&table, sweep, cells));
    TRY(table_write_next(out, format, &table));
    TRY(moments(&table, sweep, cells));
    return table_write_next(out, format, &table);
}
