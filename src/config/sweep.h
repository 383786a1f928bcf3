/* The command line -> every cell that is to be run.
 *
 *     --ctx 128,256,512      a list
 *     --ctx 64-1024*2        64 128 256 512 1024
 *     --ctx 128-512+128      128 256 384 512; 1-4 is 1-4+1
 *     --ctx 128 --ctx 256    repetition appends
 *
 * The cells are the product of all lists. Axes are ordered as in options.def (size, d_model ... batch,
 * device, precision, attention, exec, mode, ...), whatever the order on the command line; the last
 * varies fastest. Cells that come out equal are kept once. */
#pragma once

#include "config/option_value.h"

enum { SWEEP_MAX_CELLS = 100000, SWEEP_MAX_VALUES = 4096 };

/* Names of two models that compute the same, the second of which was left out; "": there are none. */
typedef struct SameModel {
    char kept[sizeof((ModelSpec){0}.name)], left_out[sizeof((ModelSpec){0}.name)];
} SameModel;

/* The values of one option, in the order they were typed, each once. */
typedef struct Axis {
    OptionValue *values;
    int n;
    SameModel same;
} Axis;

/* Appends "128", "128,256" or "64-1024*2" (ranges of whole numbers only). ST_USAGE says what is
 * wrong with which part. */
Status axis_read(Axis *axis, OptionId id, const char *s);
void axis_free(Axis *axis);
/* Keeps the first pair it is told of. */
void axis_note_same(SameModel *same, const ModelSpec *kept, const ModelSpec *left_out);

typedef struct Sweep {
    Config *configs; /* each passed config_check() */
    int n;
    bool varies[OPTION_COUNT]; /* by OptionId: the cells differ in this field */
    SameModel same;            /* the first such pair */
} Sweep;

/* `argv` holds what follows the command's name. Fills both, which the caller need not initialise;
 * on failure (ST_USAGE) there is nothing to free. With --help (settings->help) and --model list
 * (settings->list_models) there are no cells. */
Status sweep_parse(const OptionSet *set, int argc, char **argv, Settings *settings, Sweep *sweep);
void sweep_free(Sweep *sweep);

/* Sets `varies` by the configs: for cells that come from elsewhere. */
void sweep_find_varying(Sweep *sweep);
