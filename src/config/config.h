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
    X(PRECISION_FP16, "fp16") \
    X(PRECISION_FP8, "fp8")
#define CONFIG_FP8_RECIPES(X)        \
    X(FP8_RECIPE_CURRENT, "current") \
    X(FP8_RECIPE_DELAYED, "delayed") \
    X(FP8_RECIPE_ROWWISE, "rowwise") \
    X(FP8_RECIPE_BLOCK, "block")
/* Linear layers of a block, each a bit of Config.fp8_layers: X(enum constant, word). */
#define CONFIG_LINEARS(X)      \
    X(LINEAR_QKV, "qkv")       \
    X(LINEAR_OUTPUT, "output") \
    X(LINEAR_W13, "w13")       \
    X(LINEAR_W2, "w2")
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
#define CONFIG_COLLECTIVES(X)                      \
    X(COLLECTIVE_ALL_REDUCE, "all_reduce")         \
    X(COLLECTIVE_ALL_GATHER, "all_gather")         \
    X(COLLECTIVE_REDUCE_SCATTER, "reduce_scatter") \
    X(COLLECTIVE_BROADCAST, "broadcast")
#define CONFIG_PARALLELS(X)            \
    X(PARALLEL_DDP, "ddp")             \
    X(PARALLEL_DDP_NAIVE, "ddp-naive") \
    X(PARALLEL_DDP_FLAT, "ddp-flat")   \
    X(PARALLEL_ZERO1, "zero1")         \
    X(PARALLEL_FSDP, "fsdp")
#define CONFIG_COMM_PRECISIONS(X)  \
    X(COMM_PRECISION_AUTO, "auto") \
    X(COMM_PRECISION_FP32, "fp32") \
    X(COMM_PRECISION_BF16, "bf16")
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
/* Where the scales of 8-bit floats come from: the largest number of the tensor, of the same tensor in earlier
 * steps, of each row, of each block. */
typedef enum Fp8Recipe { CONFIG_FP8_RECIPES(CONFIG_CONSTANT) FP8_RECIPE_COUNT } Fp8Recipe;
typedef enum LinearLayer { CONFIG_LINEARS(CONFIG_CONSTANT) LINEAR_COUNT } LinearLayer;
/* The keys that a query attends to: up to its own position, or all. */
typedef enum Mask { CONFIG_MASKS(CONFIG_CONSTANT) MASK_COUNT } Mask;
/* The statistic of the samples: tables show it, rates follow from it. */
typedef enum Stat { CONFIG_STATS(CONFIG_CONSTANT) STAT_COUNT } Stat;

/* How the ranks of a step share it, each with a batch of its own. With `ddp` all have the whole model;
 * gradients are averaged: in buckets as soon as they are whole, one by one after the backward pass, or all at
 * once. With `zero1` each rank updates a shard of the parameters, with `fsdp` it keeps no more of them. */
typedef enum Parallel { CONFIG_PARALLELS(CONFIG_CONSTANT) PARALLEL_COUNT } Parallel;

/* In what gradients travel: in what they are, or converted. */
typedef enum CommPrecision {
    CONFIG_COMM_PRECISIONS(CONFIG_CONSTANT) COMM_PRECISION_COUNT
} CommPrecision;

/* What all ranks do together. */
typedef enum Collective { CONFIG_COLLECTIVES(CONFIG_CONSTANT) COLLECTIVE_COUNT } Collective;

/* What a cell runs: the step of a whole model, attention alone, or a collective alone. */
typedef enum Subject {
    SUBJECT_MODEL,
    SUBJECT_ATTENTION,
    SUBJECT_COLLECTIVE,
    SUBJECT_COUNT
} Subject;

/* Loss scales other than a number. */
#define CONFIG_SCALE_DYNAMIC 0.0
#define CONFIG_SCALE_NONE    (-1.0)

/* Config.routing other than how many times its share one expert gets. */
#define CONFIG_ROUTING_MODEL 0.0
#define CONFIG_ROUTING_EVEN  1.0

/* Config.recompute other than a number of blocks. */
enum { CONFIG_RECOMPUTE_AUTO = -1, CONFIG_RECOMPUTE_NONE = 0, CONFIG_RECOMPUTE_BLOCK = 1 };

/* Config.fp8_layers other than a set of linear layers. */
enum {
    CONFIG_LINEARS_ALL = 0,
    CONFIG_LINEARS_SETS = 1 << LINEAR_COUNT, /* smaller ones are sets */
    CONFIG_LINEARS_NONE = CONFIG_LINEARS_SETS,
    CONFIG_LINEARS_AUTO
};

/* Config.head_rows other than a number of rows. */
enum { CONFIG_HEAD_AUTO = 0, CONFIG_HEAD_WHOLE = -1 };

typedef struct Config {
    Subject subject;
    ModelSpec model;
    /* of attention alone */
    int64_t d_head, heads;
    int64_t kv_heads; /* of k and v, a divisor of heads; 0: as many */
    int64_t window;   /* keys that a query sees, its own the last; 0: all that the mask allows */
    Mask mask;
    /* of a collective alone */
    Collective op;
    int64_t bytes; /* of the whole array */
    /* of models and collectives */
    int64_t ranks; /* processes that work together; of a model each has a batch of its own */
    int64_t rank;  /* which of them this process is; no option sets it */
    /* of models */
    Parallel parallel;
    CommPrecision comm_precision;
    int64_t bucket; /* bytes of gradients that travel together; 0: 25 MB, as in PyTorch */
    /* of models and attention */
    int64_t ctx, batch;
    int64_t accumulate; /* micro-batches of `batch` sequences before the optimizer */
    char device[16];    /* auto, cpu, cuda, cuda:N */
    Mode mode;
    Precision precision;
    Fp8Recipe fp8_recipe; /* of fp8 */
    int64_t fp8_layers;   /* of fp8: a set of LinearLayers, or CONFIG_LINEARS_* */
    Attention attention;
    Exec exec;
    /* N: every N-th block stores its input, backward recomputes the blocks between; or CONFIG_RECOMPUTE_*. */
    int64_t recompute;
    int64_t
        recompute_blocks; /* backward recomputes only the first blocks, this many; 0: all. Set by auto */
    int64_t head_rows; /* rows of the logits at a time, or CONFIG_HEAD_*; no option sets it */
    bool fp8_apart;    /* quantizing stays a node of its own, to be looked at; no option sets it */
    double
        routing; /* of models with experts: which ones a token goes through, CONFIG_ROUTING_* or a skew */
    int64_t warmup, steps;
    int64_t curve;      /* training steps on text, whose losses are the result; 0: none */
    double sample_time; /* seconds: stop sampling after this long; 0: no limit */
    double until;       /* after `steps`, sample until the 95 % interval of the mean step is this
                           fraction of it; 0: stop after `steps` */
    bool
        from_first; /* without warm-up the first step is a sample too. It times whole steps only, */
    bool by_phase;  /* or phases only */
    int64_t seed;
    int64_t threads; /* 0: all */
    double lr, clip;
    double loss_scale; /* of fp16: CONFIG_SCALE_*, otherwise fixed */
    Blas blas;
    Stat stat;            /* does not change the work: not in the cell's key */
    int64_t memory_limit; /* bytes, 0: what the machine has */
    /* The rest limits the run and does not identify the cell. */
    double timeout; /* seconds for one cell */
    bool share_gpu; /* ranks may use one GPU together */
    bool budgeted;  /* `timeout` is the rest of a suite's budget, not the user's --timeout */
    double
        sample_share; /* seconds of a suite's budget for the samples of this cell; 0: sample_time */
} Config;

void config_defaults(Config *config);
void config_attention_defaults(Config *config);
void config_collective_defaults(Config *config);
void config_precision_defaults(Config *config);
void config_warmup_defaults(Config *config);
/* Checks that every field is within its bounds, sizes fit 64 bits, and in a model that heads divide
 * d_model into even head widths. ST_USAGE with one line that names the values. */
Status config_check(const Config *config);
/* ST_UNSUPPORTED: the context is beyond the model's positions. In a sweep that is one row of many. */
Status config_check_positions(const Config *config);

/* Seconds for the samples; 0: no limit. With `until` there is always a limit. */
double config_sample_seconds(const Config *config);

/* fp16 unless the user turned it off: the loss is scaled (even by 1), and a step whose gradients overflow is
 * skipped. */
bool config_scales_loss(const Config *config);
typedef struct ConfigText {
    char s[48];
} ConfigText;
/* "dynamic", "none" or the number. */
ConfigText config_loss_scale_text(double loss_scale);
/* "model", "even" or "skewed:2". */
ConfigText config_routing_text(double routing);
/* "none", "block", "auto" or the number. */
ConfigText config_recompute_text(int64_t recompute);

/* "all", "auto", "none" or "qkv+w2". */
ConfigText config_linears_text(int64_t linears);
/* Is this linear layer in the set? All are in those of `auto`. */
bool config_linears_have(int64_t linears, int linear);

/* A rank keeps only a shard of something: zero1, fsdp. */
bool config_parallel_shards(Parallel parallel);

/* Of one step: those of all micro-batches. */
double config_tokens(const Config *config);

/* Does a step of this mode save activations for backward (all but fwd)? Does it run backward? */
bool config_mode_saves(Mode mode);
bool config_mode_has_backward(Mode mode);

/* The words of a choice, indexed by its enum; NULL ends the list. */
extern const char *const config_modes[];
extern const char *const config_precisions[];
extern const char *const config_fp8_recipes[];
extern const char *const config_linears[];
extern const char *const config_attentions[];
extern const char *const config_execs[];
extern const char *const config_blases[];
extern const char *const config_masks[];
extern const char *const config_stats[];
extern const char *const config_collectives[];
extern const char *const config_parallels[];
extern const char *const config_comm_precisions[];
