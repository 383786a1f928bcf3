/* Durations by name: of kernels, copies, calls. */
#ifndef PROF_NAME_TALLIES_H
#define PROF_NAME_TALLIES_H

#include "prof/tally.h"
#include "prof/trace_log.h"

typedef struct NameTally {
    TraceKind kind;
    const char *name; /* of trace_log_name(): equal names are one pointer */
    int row;          /* of OpRows that launched it, or NAME_TALLIES_ANY */
    Tally seconds;
    Tally bytes; /* of copies and memsets; otherwise empty */
} NameTally;

enum { NAME_TALLIES_ANY = -2 };

/* A zeroed one is empty. */
typedef struct NameTallies {
    NameTally *list;
    int n, capacity;
} NameTallies;

Status name_tallies_add(NameTallies *names, const TraceEvent *event, int row);
void name_tallies_free(NameTallies *names);

#endif
