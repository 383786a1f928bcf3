#include "base/human.h"
#include "prof/kernel_name.h"
#include "report/profile/profile_name_tables.h"
#include "report/profile/profile_tables.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the files are, and the GPU ---- */

static void missing_notes(Table *table, const Record *record)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(record, "missing"), i, item)
    {
        table_note_printf(table, "%s has no column %s", record_text(item, "file"),
                          record_text(item, "columns"));
    }
}

static void share_row(Table *table, const char *what, double part, double whole)
{
    if (whole > 0)
        table_fact(table, what, "%s, %.1f %%", human_seconds(part * 1e-9).s, 100 * part / whole);
    else
        table_fact(table, what, "-");
}

static void gap_rows(Table *table, const ViewGaps *gaps)
{
    char after[128], before[128];
    ViewGaps brief = *gaps;
    if (gaps->time.n == 0) return;
    kernel_name_short(gaps->after ? gaps->after : "-", after, sizeof after);
    kernel_name_short(gaps->before ? gaps->before : "-", before, sizeof before);
    brief.after = after;
    brief.before = before;
    profile_cells_gaps(table, &brief, "kernels", 0);
    table_note(table, "gaps of the whole capture, copies and memsets count as kernels");
}

static Status files(Text *out, const ProfileTables *how, const ProfileView *v)
{
    Table table = {0};
    const ViewGpu *g = &v->device;
    const double all = g->compute + g->copies;
    const char *prefix = record_text(v->record, "prefix");
    table.title = "What nsys recorded";
    TABLE_COLUMNS(&table, 2, "nsys stats", "");
    table_fact(&table, "files", "%zu of %s", json_array_size(json_object_get(v->record, "files")),
               prefix && *prefix ? prefix : "no prefix");
    share_row(&table, "kernels", g->compute, all);
    share_row(&table, "copies and memsets", g->copies, all);
    gap_rows(&table, &g->gaps);
    missing_notes(&table, v->record);
    return table_write_next(out, how->format, &table);
}

/* ---- kernels, by range where the files tell ---- */

typedef struct RangeTime {
    const char *name;
    double total;
} RangeTime;

static int by_total(const void *a, const void *b)
{
    const RangeTime *x = a, *y = b;
    if (x->total != y->total) return x->total < y->total ? 1 : -1;
    return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    const RangeTime *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* The ranges of phase_kernels, those with most time first; the caller frees. */
static RangeTime *ranges_of(const ProfileView *v, int *n)
{
    RangeTime *list = malloc(((size_t)v->n_phase_kernels + 1) * sizeof *list);
    if (!list) return NULL;
    for (int i = 0; i < v->n_phase_kernels; i++)
        list[i] = (RangeTime){v->phase_kernels[i].in, v->phase_kernels[i].time.total};
    qsort(list, (size_t)v->n_phase_kernels, sizeof *list, by_name);
    *n = 0;
    for (int i = 0; i < v->n_phase_kernels; i++) {
        if (*n && strcmp(list[*n - 1].name, list[i].name) == 0)
            list[*n - 1].total += list[i].total;
        else
            list[(*n)++] = list[i];
    }
    qsort(list, (size_t)*n, sizeof *list, by_total);
    return list;
}

static void range_rows(Table *table, const NameTable *as)
{
    int n = 0;
    const ProfileView *v = as->view;
    RangeTime *ranges = ranges_of(v, &n);
    table->failed = table->failed || !ranges;
    const int shown = n < as->how->top ? n : (int)as->how->top;
    for (int i = 0; i < shown; i++)
        profile_name_tables_rows(table, as, ranges[i].name, ranges[i].name, v->phase_kernels,
                                 v->n_phase_kernels);
    if (shown < n) table_note_printf(table, "%d ranges are left out: --top shows more", n - shown);
    free(ranges);
}

static Status kernels(Text *out, const ProfileTables *how, const ProfileView *v)
{
    Table table = {0};
    const NameTable as = {.how = how,
                          .view = v,
                          .title = "Where the time goes, by kernel",
                          .heading = "kernel, by name",
                          .grouping = v->n_phase_kernels ? "in" : NULL,
                          .briefly = true,
                          .whole_run = true};
    profile_name_tables_columns(&table, &as);
    range_rows(&table, &as);
    profile_name_tables_rows(&table, &as, "all", NULL, v->names, v->n_names);
    return table_write_next(out, how->format, &table);
}

/* ---- the other lists ---- */

static Status list(Text *out, const ProfileTables *how, const ProfileView *v, const char *title,
                   const char *heading, const ViewName *names, int n)
{
    Table table = {0};
    const NameTable as = {.how = how,
                          .view = v,
                          .title = title,
                          .heading = heading,
                          .whole_run = true,
                          .more = names == v->projected ? "GPU operations" : NULL};
    profile_name_tables_columns(&table, &as);
    profile_name_tables_rows(&table, &as, NULL, NULL, names, n);
    if (names == v->nvtx || names == v->projected)
        table_note(&table, "a nested range counts in every range around it, too");
    return table_write_next(out, how->format, &table);
}

static Status write_one(Text *out, const ProfileTables *how, const ProfileView *v)
{
    TRY(files(out, how, v));
    TRY(kernels(out, how, v));
    TRY(list(out, how, v, "Kernels by grid", "kernel, by grid", v->grids, v->n_grids));
    TRY(profile_name_tables_memory(out, how, v));
    TRY(list(out, how, v, "CUDA calls of the host", "CUDA call", v->calls, v->n_calls));
    TRY(list(out, how, v, "NVTX ranges", "NVTX range", v->nvtx, v->n_nvtx));
    TRY(list(out, how, v, "NVTX ranges on the GPU", "NVTX range, on the GPU", v->projected,
             v->n_projected));
    return list(out, how, v, "Calls of the operating system", "call of the operating system",
                v->os_calls, v->n_os_calls);
}

Status profile_nsys_tables_write(Text *out, const ProfileTables *how, const json_t *profiles)
{
    size_t i;
    json_t *item;
    json_array_foreach(profiles, i, item)
    {
        CLEANUP(profile_view_free) ProfileView view = {0};
        TRY(profile_view_make(&view, item));
        TRY(write_one(out, how, &view));
    }
    return ST_OK;
}
