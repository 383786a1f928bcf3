/* What the user asked for: one struct, one cell of a sweep. */
#pragma once

#include "base/status.h"
#include "config/model_spec.h"

#include <stdbool.h>
#include <stdint.h>

/* The words of a choice on the command line, in the order of its enum: X(enum constant, word). */
#define CONFIG_MODES(X)          \
    X(MODE_FWD, "fwd")           \
    X(MODE_FWD_GRAD, "fwd_grad") \
    X(MODE_FWD_BWD, "fwd_bwd")   \
    X(MODE_TRAIN, "train")
#define CONFIG_PRECISIONS(X)  \
    X(PRECISION_FP32, "fp32") \
    X(PRECISION_TF32, "tf32") \
    X(PRECISION_BF16, "bf16") \
    X(PRECISION_FP16, "fp16")
#define CONFIG_ATTENTIONS(X)    \
    X(ATTENTION_AUTO, "auto")   \
    X(ATTENTION_NAIVE, "naive") \
    X(ATTENTION_FUSED, "fused") \
    X(ATTENTION_FLASH, "flash") \
    X(ATTENTION_CUDNN, "cudnn")
#define CONFIG_EXECS(X)    \
    X(EXEC_EAGER, "eager") \
    X(EXEC_FUSED, "fused") \
    X(EXEC_GRAPH, "graph")
#define CONFIG_BLASES(X) \
    X(BLAS_AUTO, "auto") \
    X(BLAS_OWN, "own")   \
    X(BLAS_SYSTEM, "system")
#define CONFIG_MASKS(X)      \
    X(MASK_CAUSAL, "causal") \
    X(MASK_FULL, "full")
#define CONFIG_STATS(X)      \
    X(STAT_MEDIAN, "median") \
    X(STAT_MEAN, "mean")     \
    X(STAT_MIN, "min")

#define CONFIG_CONSTANT(constant, word) constant,
typedef enum Mode { CONFIG_MODES(CONFIG_CONSTANT) MODE_COUNT } Mode;
typedef enum Precision { CONFIG_PRECISIONS(CONFIG_CONSTANT) PRECISION_COUNT } Precision;
typedef enum Attention { CONFIG_ATTENTIONS(CONFIG_CONSTANT) ATTENTION_COUNT } Attention;
typedef enum Exec { CONFIG_EXECS(CONFIG_CONSTANT) EXEC_COUNT } Exec;
typedef enum Blas { CONFIG_BLASES(CONFIG_CONSTANT) BLAS_COUNT } Blas;
/* The keys that a query sees: those up to its own position, or all. */
typedef enum Mask { CONFIG_MASKS(CONFIG_CONSTANT) MASK_COUNT } Mask;
/* The statistic of the samples that tables show and rates are derived from. */
typedef enum Stat { CONFIG_STATS(CONFIG_CONSTANT) STAT_COUNT } Stat;

/* What a cell runs: the step of a whole model, or attention alone. */
typedef enum Subject { SUBJECT_MODEL, SUBJECT_ATTENTION, SUBJECT_COUNT } Subject;

/* Loss scales that are no number. */
#define CONFIG_SCALE_DYNAMIC 0.0
#define CONFIG_SCALE_NONE    (-1.0)

/* What backward recomputes, where it is not a number of blocks. */
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
    /* Every N-th block keeps its input and the blocks between are recomputed; or CONFIG_RECOMPUTE_*. */
    int64_t recompute;
    int64_t recompute_blocks; /* how many of the first blocks are recomputed; 0: all. Set by auto */
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
