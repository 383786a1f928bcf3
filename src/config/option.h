/* The one table of options: what parses and checks them also writes --help. */
#pragma once

#include "base/text.h"
#include "config/config.h"
#include "config/settings.h"

/* A list of options and sets of them; static where it is at file scope. */
#define OPTION_LIST(...) ((const OptionId[]){__VA_ARGS__, OPTION_END})

/* What a command's --help says of an option otherwise than the table does; NULL: as the table has it. */
typedef struct OptionWords {
    OptionId id;
    const char *value, *help;
    const char *by_default; /* where it is not a value of its cells: "all of them" */
} OptionWords;

/* What one command takes. --help is always among it. */
typedef struct OptionSet {
    const OptionId *taken; /* OPTION_LIST; NULL: none */
    const OptionId *lists; /* those that may have several values (lists, ranges, repetition) */
    const char *formats;   /* of --format, blanks between: "md json"; the first is the default */
    const char *out;       /* where the result goes without --out; NULL: stdout */
    int modes;             /* how many of the words of --mode it takes, from the first; 0: all */
    const char *args;      /* what may follow that is not an option ("FILE..."), NULL for nothing */
    void (*defaults)(Config *config); /* of its cells; NULL: config_defaults() */
    const OptionWords *words;         /* n_words of them */
    int n_words;
} OptionSet;

typedef enum OptionKind {
    OPTION_KIND_INT,
    OPTION_KIND_REAL,
    OPTION_KIND_BYTES, /* of memory: in MiB where results have it */
    OPTION_KIND_SIZE,  /* bytes as they are, of an array */
    OPTION_KIND_SECONDS,
    OPTION_KIND_PERCENT,
    OPTION_KIND_CHOICE, /* one of its words */
    OPTION_KIND_PRESET, /* of presets.def */
    OPTION_KIND_MODEL,  /* of a configuration file; what tells two apart is their hash */
    OPTION_KIND_DEVICE,
    OPTION_KIND_SCALE,     /* of the loss: dynamic, none or a number */
    OPTION_KIND_RECOMPUTE, /* none, block, auto or a number of blocks */
    OPTION_KIND_ROUTING,   /* model, even or skewed:X */
    OPTION_KIND_LINEARS,   /* all, auto, none, or linear layers with + between */
    OPTION_KIND_FORMAT,    /* one of the command's */
    OPTION_KIND_TEXT,
    OPTION_KIND_FLAG
} OptionKind;

typedef enum OptionGroup {
    OPTION_GROUP_MODEL,
    OPTION_GROUP_RUN,
    OPTION_GROUP_OUTPUT,
    OPTION_GROUP_COUNT
} OptionGroup;

typedef struct Option {
    const char *name; /* without the dashes */
    OptionGroup group;
    OptionKind kind;
    size_t offset; /* in Config below CELL_FIELD_COUNT, otherwise in Settings */
    const char *const *
        words; /* that a CHOICE or PRESET takes, a MODEL among others; ended by NULL; NULL for other kinds */
    double min, max;   /* of a number */
    const char *value; /* how --help calls it; NULL: the list of words it takes */
    const char *help;
} Option;

extern const Option option_table[OPTION_COUNT];

/* Is it in the list, by itself or in a set? */
bool option_in(const OptionId *list, int id);
bool option_takes(const OptionSet *set, int id);
/* ST_USAGE: it stands there without one. Says what else may have been meant. */
Status option_needs_value(const OptionSet *set, OptionId id);
/* Was any of these on the command line? */
bool option_given(const Settings *settings, const OptionId *list);
/* Does each of its values make cells of their own? Every field of a cell but the limit on memory. */
bool option_is_axis(int id);
void option_defaults(const OptionSet *set, Config *config);
/* The option called `name` (without dashes) among those the command takes. ST_USAGE names the
 * nearest one. */
Status option_find(const OptionSet *set, const char *name, OptionId *out);

/* The options of a command as --help shows them. */
void option_help(Text *out, const OptionSet *set, size_t columns);
/* Of one option: what it takes ("N", or its words: "fp32|tf32"; nothing of a flag), and what it means, its
 * default included. */
void option_help_value(Text *out, OptionId id, const OptionSet *set);
void option_help_meaning(Text *out, OptionId id, const OptionSet *set);
