/* Options of the command line that do not describe a cell: where results go, what to skip.
 *
 * All text belongs to argv. */
#pragma once

#include "config/option_id.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SETTINGS_MAX_ARGS = 256,
    SETTINGS_MAX_LIMITS = 16,
    SETTINGS_MOST_COUNT =
        10000000 /* the most terms of a sum, for --count and for files that `report` reads */
};

typedef struct Settings {
    char format[16];           /* one of the command's formats; its first by default */
    const char *out;           /* NULL: stdout */
    const char *out_json;      /* NULL: none */
    const char *out_dir;       /* NULL: none */
    const char *prefix;        /* of the files in it; NULL: the command's own */
    const char *from;          /* profile: an --out-dir of an earlier run; NULL: none */
    const char *against;       /* profile: another --exec; NULL: none */
    bool nvtx, annotate_mha;   /* ranges for another profiler, with the parts of attention */
    int64_t trace_steps;       /* profile: steps whose events go into the trace */
    bool source;               /* profile: show the source file and line of ops */
    const char *snapshot;      /* NULL: none */
    const char *svg;           /* NULL: none */
    const char *tables;        /* report: a folder; NULL: none */
    const char *charts;        /* report: a folder; NULL: none */
    const char *baseline;      /* NULL: none */
    const char *resume;        /* NULL: none */
    const char *launcher;      /* of ranks; NULL: the usual one */
    const char *hosts;         /* for ranks, a file; NULL: this machine */
    bool share_gpu;            /* several ranks may use one GPU */
    const char *peer;          /* NULL: none */
    const char *peer_variants; /* NULL: by device */
    int64_t peer_rounds;
    int64_t rounds;
    int64_t count;    /* precision: terms of the sum, */
    double value;     /* and the value of each */
    const char *data; /* precision: text of the curves; NULL: what the machine has */
    bool interleave;
    double fail_above; /* compare: a fraction; INFINITY: never */
    bool fail_unsure;  /* compare: fail where the samples do not tell */
    const char *phase; /* compare: those that count; NULL: all */
    bool live;         /* compare: two programs, run now */
    int64_t top;       /* memory, profile: how many of the largest */
    double budget;     /* suite: seconds; INFINITY with --full */
    bool full;         /* suite: no budget */
    const char *like;  /* suite: a write-up; NULL: none */
    bool dry_run;
    bool refresh;                 /* limits: measure again */
    bool keep;                    /* limits: store the figures of a busy machine too */
    bool plan_only;               /* memory: run nothing */
    const char *limits;           /* plan, memory: limits of another machine, a file; NULL: none */
    const char *gpu;              /* the same, of a GPU by its data sheet; NULL: none */
    const char *efficiency;       /* forecast: a file; NULL: the program's own */
    const char *price;            /* bench, forecast: of an hour; NULL: not given */
    const char *as;               /* forecast: another program; NULL: this one */
    bool fit, check;              /* forecast: from files */
    const char *step;             /* plan: of one rank, a time or a file; NULL: none */
    const char *link, *node_link; /* plan: between ranks; NULL: none */
    int64_t ranks_per_node;       /* plan; 0: all */
    bool list_models;             /* --model list: there are no cells */
    const char *model;            /* what --model was given: export reads the weights beside it */
    bool help;
    bool quiet;                                 /* neither progress nor notes */
    int64_t memory_limits[SETTINGS_MAX_LIMITS]; /* bytes; the first applies to every cell */
    int n_memory_limits;                        /* 0: what the machine has */
    const char *args[SETTINGS_MAX_ARGS];        /* positional arguments */
    int n_args;
    int dashes;               /* how many of them stand before "--"; -1: there is none */
    bool given[OPTION_COUNT]; /* by OptionId: is on the command line */
    const char *command_line; /* quoted for a shell */
} Settings;
