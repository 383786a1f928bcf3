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

_Static_assert(OPTION_COUNT <= 64, "a set of options is a 64-bit mask");

#define OPTION_BIT(id) (UINT64_C(1) << OPTION_##id)

/* The sets that commands are made of. */
#define OPTIONS_DIMS                                                                      \
    (OPTION_BIT(SIZE) | OPTION_BIT(D_MODEL) | OPTION_BIT(D_FF) | OPTION_BIT(NUM_LAYERS) | \
     OPTION_BIT(NUM_HEADS) | OPTION_BIT(VOCAB) | OPTION_BIT(CTX) | OPTION_BIT(BATCH))
/* What decides the plan of a step. */
#define OPTIONS_PLAN                                                                     \
    (OPTIONS_DIMS | OPTION_BIT(DEVICE) | OPTION_BIT(PRECISION) | OPTION_BIT(ATTENTION) | \
     OPTION_BIT(EXEC) | OPTION_BIT(MODE) | OPTION_BIT(THREADS) | OPTION_BIT(BLAS))
/* And what decides its numbers. */
#define OPTIONS_STEP \
    (OPTIONS_PLAN | OPTION_BIT(SEED) | OPTION_BIT(LR) | OPTION_BIT(CLIP) | OPTION_BIT(LOSS_SCALE))
#define OPTIONS_OUTPUT (OPTION_BIT(FORMAT) | OPTION_BIT(OUT))

/* What one command takes. --help is always among it. */
typedef struct OptionSet {
    uint64_t taken;      /* OPTION_BITs */
    uint64_t lists;      /* those that may have several values (lists, ranges, repetition) */
    const char *formats; /* of --format, blanks between: "md json"; the first is the default */
    const char *args;    /* what may follow that is not an option ("FILE..."), NULL for nothing */
} OptionSet;

typedef enum OptionKind {
    OPTION_KIND_INT,
    OPTION_KIND_REAL,
    OPTION_KIND_BYTES,
    OPTION_KIND_SECONDS,
    OPTION_KIND_CHOICE, /* of choices.def */
    OPTION_KIND_PRESET, /* of presets.def */
    OPTION_KIND_DEVICE,
    OPTION_KIND_SCALE,  /* of the loss: dynamic, none or a number */
    OPTION_KIND_FORMAT, /* one of the command's */
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

#endif
