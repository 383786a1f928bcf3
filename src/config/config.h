/* What the user asked for: one struct, one cell of a sweep. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/status.h"
#include "config/model_spec.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum Mode {
#define MODE(suffix, word) MODE_##suffix,
#include "config/choices.def"
    MODE_COUNT
} Mode;

typedef enum Precision {
#define PRECISION(suffix, word) PRECISION_##suffix,
#include "config/choices.def"
    PRECISION_COUNT
} Precision;

typedef enum Attention {
#define ATTENTION(suffix, word) ATTENTION_##suffix,
#include "config/choices.def"
    ATTENTION_COUNT
} Attention;

typedef enum Exec {
#define EXEC(suffix, word) EXEC_##suffix,
#include "config/choices.def"
    EXEC_COUNT
} Exec;

typedef enum Blas {
#define BLAS(suffix, word) BLAS_##suffix,
#include "config/choices.def"
    BLAS_COUNT
} Blas;

/* Which keys a query sees: those up to its own place, or all. */
typedef enum Mask {
#define MASK(suffix, word) MASK_##suffix,
#include "config/choices.def"
    MASK_COUNT
} Mask;

/* Which figure of the samples tables show, and everything derived from them follows. */
typedef enum Stat {
#define STAT(suffix, word) STAT_##suffix,
#include "config/choices.def"
    STAT_COUNT
} Stat;

/* What a cell runs: the step of a whole model, or attention alone. */
typedef enum Subject { SUBJECT_MODEL, SUBJECT_ATTENTION, SUBJECT_COUNT } Subject;

/* Loss scales that are no number. */
#define CONFIG_SCALE_DYNAMIC 0.0
#define CONFIG_SCALE_NONE    (-1.0)

/* What backward computes again, where it is no number of blocks. */
enum { CONFIG_RECOMPUTE_AUTO = -1, CONFIG_RECOMPUTE_NONE = 0, CONFIG_RECOMPUTE_BLOCK = 1 };

typedef struct Config {
    Subject subject;
    ModelSpec model;
    /* of attention alone */
    int64_t d_head, heads;
    Mask mask;
    /* of both */
    int64_t ctx, batch;
    char device[16]; /* auto, cpu, cuda, cuda:N */
    Mode mode;
    Precision precision;
    Attention attention;
    Exec exec;
    int64_t recompute;        /* from every so many blocks one tensor is kept; CONFIG_RECOMPUTE_* */
    int64_t recompute_blocks; /* only the first so many are computed again; 0: all. Set by auto */
    int64_t warmup, steps;
    double sample_time; /* seconds after which no further sample is begun, 0: never */
    double
        until; /* go on after `steps` until the interval of the mean step is this share of it; 0: do not */
    bool
        from_first; /* the very first step counts as a sample where there is no warm-up; whole steps only, */
    bool by_phase; /* or, with this, phases only */
    int64_t seed;
    int64_t threads; /* 0: all */
    double lr, clip;
    double loss_scale; /* of fp16: CONFIG_SCALE_*, otherwise fixed */
    Blas blas;
    Stat stat;            /* no part of the work: not in the cell's key */
    int64_t memory_limit; /* bytes, 0: what the machine has */
    double timeout;       /* seconds for one cell, */
    bool budgeted;        /* which are what the budget of a suite leaves; */
    double sample_share; /* seconds that the suite leaves for its samples, 0: as asked for. Like the
                             time-out, no part of what the cell is */
} Config;

void config_defaults(Config *config);
void config_attention_defaults(Config *config);
void config_precision_defaults(Config *config);
void config_warmup_defaults(Config *config);
/* Every field within its bounds, products fit 64 bits; of a model: heads divide d_model, head width even.
 * ST_USAGE with one line that names the values. */
Status config_check(const Config *config);

/* Seconds for the samples, 0: no end. With `until` there is always one. */
double config_sample_seconds(const Config *config);

/* The loss is scaled (by 1 even), and a step whose gradients overflow is skipped: fp16, unless it was
 * asked not to be. */
bool config_scales_loss(const Config *config);
typedef struct ConfigText {
    char s[32];
} ConfigText;
/* "dynamic", "none" or the number. */
ConfigText config_loss_scale_text(double loss_scale);
/* "none", "block", "auto" or the number. */
ConfigText config_recompute_text(int64_t recompute);

/* Does a step of this mode keep what backward reads (all but fwd), and run it (fwd_bwd, train)? */
bool config_mode_saves(Mode mode);
bool config_mode_has_backward(Mode mode);

const char *config_mode_name(Mode mode);
const char *config_precision_name(Precision precision);
const char *config_attention_name(Attention attention);
const char *config_exec_name(Exec exec);
const char *config_blas_name(Blas blas);
const char *config_mask_name(Mask mask);
const char *config_stat_name(Stat stat);

/* All the words of a choice, in the order of its enum, ended by NULL. */
extern const char *const config_modes[];
extern const char *const config_precisions[];
extern const char *const config_attentions[];
extern const char *const config_execs[];
extern const char *const config_blases[];
extern const char *const config_masks[];
extern const char *const config_stats[];

#endif
