/* The tables of a profile that sum what ran by its name. */
#pragma once

#include "report/profile/profile_cells.h"

/* Kernels by name, ops, kernels by op, each in every phase and in the step, and CUDA calls; of a
 * file that has them. */
Status profile_name_tables_write(Text *out, const ProfileTables *how, const ProfileView *view);
/* A GPU's copies and memsets. */
Status profile_name_tables_memory(Text *out, const ProfileTables *how, const ProfileView *view);

/* ---- for tables of names that belong to no phase ---- */
typedef struct NameTable {
    const ProfileTables *how;
    const ProfileView *view;
    const char *title;    /* of the table */
    const char *heading;  /* of the names: "kernel" */
    const char *grouping; /* of what they are in: "in"; NULL: no such column */
    const char *of;       /* heading of where they are from, and their category; NULL: neither */
    bool ops;             /* the names are those of ops, not of kernels */
    bool briefly;         /* short names where they tell names apart */
    bool whole_run;       /* there are no steps: calls of all of it */
    const char *more;     /* heading of ViewName.ops; NULL: no such column */
    bool source;          /* file and line of the op they are from */
} NameTable;

/* Did it run, in the phase `in` (NULL: in any)? The phase is the one that lists the name, or its op's. */
bool profile_name_tables_is_in(const ProfileView *view, const ViewName *name, const char *in);
void profile_name_tables_columns(Table *table, const NameTable *as);
/* Those of `names` whose `in` is `in` (NULL: all of them), most time first, and the rest in a row;
 * in the column of what they are in stands `label`. */
void profile_name_tables_rows(Table *table, const NameTable *as, const char *label, const char *in,
                              const ViewName *names, int n);
