/* The one table of options: what parses and checks them also writes --help. */
#ifndef CONFIG_OPTION_H
#define CONFIG_OPTION_H

#include "base/text.h"
#include "config/config.h"
#include "config/settings.h"

typedef enum OptionId {
#define OPTION(id, name, group, kind, home, field, min, max, value, help) OPTION_##id,
#include "config/options.def"
#undef OPTION
    OPTION_COUNT
} OptionId;

_Static_assert(OPTION_COUNT <= 8 * sizeof(OptionBits), "every option has a bit");

#define OPTION_BIT(id) ((OptionBits)1 << OPTION_##id)

/* The sets that commands are made of. */
#define OPTIONS_DIMS                                                                      \
    (OPTION_BIT(SIZE) | OPTION_BIT(D_MODEL) | OPTION_BIT(D_FF) | OPTION_BIT(NUM_LAYERS) | \
     OPTION_BIT(NUM_HEADS) | OPTION_BIT(VOCAB) | OPTION_BIT(CTX) | OPTION_BIT(BATCH))
/* What decides the plan of a step. */
#define OPTIONS_PLAN                                                                     \
    (OPTIONS_DIMS | OPTION_BIT(DEVICE) | OPTION_BIT(PRECISION) | OPTION_BIT(ATTENTION) | \
     OPTION_BIT(EXEC) | OPTION_BIT(RECOMPUTE) | OPTION_BIT(MODE) | OPTION_BIT(THREADS) | \
     OPTION_BIT(BLAS))
/* And what decides its numbers. */
#define OPTIONS_STEP \
    (OPTIONS_PLAN | OPTION_BIT(SEED) | OPTION_BIT(LR) | OPTION_BIT(CLIP) | OPTION_BIT(LOSS_SCALE))
/* Those that change the dimensions of a preset: the size is "custom" then. */
#define OPTIONS_CUSTOM \
    (OPTION_BIT(D_MODEL) | OPTION_BIT(D_FF) | OPTION_BIT(NUM_LAYERS) | OPTION_BIT(NUM_HEADS))
#define OPTIONS_OUTPUT (OPTION_BIT(FORMAT) | OPTION_BIT(OUT))

/* What a command's --help says of an option otherwise than the table does; NULL: as the table has it. */
typedef struct OptionWords {
    OptionId id;
    const char *value, *help;
    const char *by_default; /* where it is not a value of its cells: "all of them" */
} OptionWords;

/* What one command takes. --help is always among it. */
typedef struct OptionSet {
    OptionBits taken;    /* OPTION_BITs */
    OptionBits lists;    /* those that may have several values (lists, ranges, repetition) */
    const char *formats; /* of --format, blanks between: "md json"; the first is the default */
    const char *out;     /* where the result goes without --out; NULL: stdout */
    int modes;           /* how many of the words of --mode it takes, from the first; 0: all */
    const char *args;    /* what may follow that is not an option ("FILE..."), NULL for nothing */
    void (*defaults)(Config *config); /* of its cells; NULL: config_defaults() */
    const OptionWords *words;         /* n_words of them */
    int n_words;
} OptionSet;

typedef enum OptionKind {
    OPTION_KIND_INT,
    OPTION_KIND_REAL,
    OPTION_KIND_BYTES,
    OPTION_KIND_SECONDS,
    OPTION_KIND_PERCENT,
    OPTION_KIND_CHOICE, /* of choices.def */
    OPTION_KIND_PRESET, /* of presets.def */
    OPTION_KIND_DEVICE,
    OPTION_KIND_SCALE,     /* of the loss: dynamic, none or a number */
    OPTION_KIND_RECOMPUTE, /* none, block, auto or a number of blocks */
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
    bool cell; /* a field of Config, otherwise of Settings, at this offset */
    size_t offset;
    double min, max;   /* of a number */
    const char *value; /* how --help calls it; NULL: the list of words it takes */
    const char *help;
} Option;

extern const Option option_table[OPTION_COUNT];

/* One value as it was typed; the option's kind says which field holds it. */
typedef struct OptionValue {
    int64_t number; /* INT, BYTES, CHOICE, RECOMPUTE */
    double real;    /* REAL, SECONDS, PERCENT, SCALE */
    char word[16];  /* PRESET, DEVICE */
} OptionValue;

void option_defaults(const OptionSet *set, Config *config);
/* The option called `name` (without dashes) among those the command takes. ST_USAGE names the
 * nearest one. */
Status option_find(const OptionSet *set, const char *name, OptionId *out);
/* Strict, and within the option's bounds; the message does not name the option. For the kinds that
 * cells and limits have: not FORMAT, TEXT, FLAG. */
Status option_read(OptionId id, const char *s, OptionValue *out);
bool option_equal(OptionId id, const OptionValue *a, const OptionValue *b);

/* A field of Config: reads it, writes it, orders two cells by it (as strcmp does), holds it to its
 * bounds. */
OptionValue option_load(OptionId id, const Config *config);
void option_store(OptionId id, const OptionValue *value, Config *config);
int option_compare(OptionId id, const Config *a, const Config *b);
Status option_check(OptionId id, const Config *config);
Status option_check_integer(OptionId id, int64_t x);
Status option_check_real(OptionId id, double x);

/* The words a CHOICE or PRESET takes, ended by NULL; NULL for other kinds. */
const char *const *option_words(OptionId id);
/* One of the command's formats; NULL for its first. ST_USAGE lists them. */
Status option_read_format(const OptionSet *set, const char *s, char format[16]);

/* The options of a command as --help shows them. */
void option_help(Text *out, const OptionSet *set);
/* Of one option: what it takes ("N", or its words: "fp32|tf32"; nothing of a flag), and what it means, its
 * default included. */
void option_help_value(Text *out, OptionId id, const OptionSet *set);
void option_help_meaning(Text *out, OptionId id, const OptionSet *set);

#endif
