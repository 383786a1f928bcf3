#include "report/profile/profile_memory_tables.h"

#include "base/human.h"

#include <math.h>
#include <string.h>

static bool is_memory(const ViewName *name)
{
    return strcmp(name->kind, "kernel") != 0;
}

/* MB as nsys has them: 10^6 bytes. */
static void size_cells(Table *table, const ViewTally *bytes)
{
    const double mb[] = {bytes->total, bytes->avg, bytes->max};
    for (size_t i = 0; i < sizeof mb / sizeof *mb; i++)
        table_cell(table, bytes->n ? human_number(mb[i] * 1e-6, 4).s : "-");
}

static void memory_row(Table *table, const ViewName *name, double all)
{
    const ViewTally *t = &name->time;
    const double us[] = {t->avg, t->med, t->min, t->max, t->std};
    table_cell(table, name->name);
    table_cell(table, human_count(t->n ? t->n : name->bytes.n).s);
    profile_tables_ms(table, t->n ? t->total : NAN);
    profile_tables_percent(table, t->n ? t->total : NAN, all);
    for (size_t i = 0; i < sizeof us / sizeof *us; i++)
        table_cell(table, human_number(t->n ? us[i] * 1e-3 : NAN, 4).s);
    size_cells(table, &name->bytes);
}

Status profile_memory_tables_write(Text *out, const ProfileTables *how, const ProfileView *v)
{
    Table table = {0};
    double all = 0;
    for (int i = 0; i < v->n_names; i++)
        all += is_memory(&v->names[i]) ? v->names[i].time.total : 0;
    PROFILE_COLUMNS(&table, 1, "memory operation", "count", "total (ms)", "share (%)", "avg (us)",
                    "med (us)", "min (us)", "max (us)", "std (us)", "total (MB)", "avg (MB)",
                    "max (MB)");
    TABLE_SPARE(&table, "med (us)", "std (us)", "max (us)", "min (us)", "max (MB)", "avg (us)",
                "avg (MB)");
    for (int i = 0; i < v->n_names; i++) {
        if (is_memory(&v->names[i])) memory_row(&table, &v->names[i], all);
    }
    table_note(&table, "copies and memsets of all that was profiled; 1 MB is 1,000,000 bytes",
               NULL);
    return profile_tables_put(out, how, &table);
}
