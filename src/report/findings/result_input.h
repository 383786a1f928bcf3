/* A file that a page is made of, whichever command wrote it. */
#pragma once

#include "base/text.h"
#include "bench/limits/limits.h"
#include "bench/record/record_set.h"
#include "report/records/column.h"

/* What rows are about; each kind has its own tables and charts. */
typedef enum ResultKind {
    RESULT_MODEL,
    RESULT_ATTENTION,
    RESULT_PROFILE,
    RESULT_WARMUP,
    RESULT_PRECISION,
    RESULT_CURVE, /* of the loss, in several precisions */
    RESULT_COLLECTIVE,
    RESULT_KINDS
} ResultKind;

typedef struct ResultInput {
    const char *path;             /* as it was given; borrowed */
    RecordSet rows;               /* none in a file of limits, memory or a trace */
    RecordSet kind[RESULT_KINDS]; /* the same rows by kind */
    bool has_limits;
    Limits limits;
    bool is_warmup;    /* a study of warm-ups, */
    int64_t sum_count; /* or of precisions: how many terms its sums have; 0: none */
    double sum_value;
    json_t *memory;    /* cells of `memory`; NULL: none */
    json_t *forecasts; /* of `forecast`: a list; NULL: none */
    json_t *layer;     /* of a trace: layer_timeline_make(); NULL: none */
    json_t *step;      /* of a trace of ranks: step_timeline_make(); NULL: none */
} ResultInput;

/* json or jsonl of bench, attention, profile, warmup, precision or collective, json of memory,
 * limits or forecast, or a trace of profile. ST_USAGE: it is none of these, or cannot be read. The
 * caller frees it, after a failure too. */
Status result_input_read(ResultInput *file, const char *path);
/* The same of a file's text. */
Status result_input_parse(ResultInput *file, const char *path, const Text *text);
void result_input_free(ResultInput *file);

/* One layer of a trace, forward and backward: what the host and the device did, and the gaps between.
 * Of a trace in Kineto's layout a new reference to
 *
 *   {layer: "layer.2", phases: [{phase, begin_us, end_us,
 *                                tracks: [{name: "host", events: [[name, scope, begin_us, us], ...]},
 *                                         ...]}, ...]}
 *
 * for the layer in the middle and one step, times from the step's begin; NULL where no event belongs to a
 * layer. Events are in the order of their begin. */
Status layer_timeline_make(json_t **out, const json_t *trace);

/* One step of rank 0 in a trace of ranks: its phases, its work, what it waited for and what travelled.
 *
 *   {end_us, tracks: [{name: "work", events: [[name, phase, begin_us, us], ...]}, ...]}
 *
 * A new reference; NULL where the trace is not of ranks. */
Status step_timeline_make(json_t **out, const json_t *trace);

const char *result_input_name(const ResultInput *file); /* without folders */
const char *result_input_kind_name(ResultKind kind);    /* "model", ... */
/* How many of the files have rows of this kind: where several do, a row is named with its file. */
int result_input_count(const ResultInput *files, int n, ResultKind kind);
/* The first of the files before files[i] that has a cell in common with it; NULL: none. */
const ResultInput *result_input_before(const ResultInput *files, int i);
/* Which columns set rows of a kind apart, for record_notes_label(). It looks through all of them. */
ColumnSet result_input_distinct(const RecordSet *rows);
/* "small, ctx 512": a row by what sets it apart from the others of its kind; of many rows,
 * result_input_distinct() first. */
void result_input_label(Text *out, const RecordSet *rows, const Record *record);
