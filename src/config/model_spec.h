/* What a model is, whatever runs it: its dimensions and the kinds of its parts. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* The kinds of a model's parts, and the words of their names in results: X(constant, word). */
#define MODEL_NORMS(X) \
    X(NORM_RMS, "rms") \
    X(NORM_LAYER, "layer")
#define MODEL_POSITIONS(X)                                              \
    X(POSITION_PAIRS, "pairs")   /* RoPE on neighbouring elements */    \
    X(POSITION_HALVES, "halves") /* RoPE on the two halves of a head */ \
    X(POSITION_LEARNED, "learned")
#define MODEL_FEED_FORWARDS(X)             \
    X(FEED_FORWARD_SWIGLU, "swiglu")       \
    X(FEED_FORWARD_GELU_TANH, "gelu_tanh") \
    X(FEED_FORWARD_GELU_ERF, "gelu_erf")
#define MODEL_ROPE_SCALINGS(X)       \
    X(ROPE_SCALING_NONE, "none")     \
    X(ROPE_SCALING_LINEAR, "linear") \
    X(ROPE_SCALING_LLAMA3, "llama3")
#define MODEL_CONSTANT(constant, word) constant,
typedef enum Norm { MODEL_NORMS(MODEL_CONSTANT) NORM_COUNT } Norm;
typedef enum Position { MODEL_POSITIONS(MODEL_CONSTANT) POSITION_COUNT } Position;
typedef enum FeedForward { MODEL_FEED_FORWARDS(MODEL_CONSTANT) FEED_FORWARD_COUNT } FeedForward;
typedef enum RopeScaling { MODEL_ROPE_SCALINGS(MODEL_CONSTANT) ROPE_SCALING_COUNT } RopeScaling;

/* The project's own model, or a class of `transformers`: config/architecture.h. */
typedef enum Architecture {
    ARCHITECTURE_OWN,
#define ARCHITECTURE(id, ...) ARCHITECTURE_##id,
#include "config/architectures.def"
    ARCHITECTURE_COUNT
} Architecture;

/* A bit for each layer: as many as cell_fields.def allows. */
enum { MODEL_LAYER_WORDS = 1024 / 64 };

typedef struct Rope {
    double theta;
    double share; /* of each head's elements that are rotated: the first ones */
    RopeScaling scaling;
    double factor, low_factor, high_factor; /* of LINEAR: the first; of LLAMA3 */
    int64_t original_positions;             /* of LLAMA3 */
} Rope;

typedef struct ModelSpec {
    char size[40]; /* the preset's name, the model's, or "custom" */
#define DIMENSION(id, name, ...) int64_t name;
#include "config/cell_fields.def"
    int64_t num_kv_heads; /* heads of k and v; 0: as many as of q */
    int64_t head_dim;     /* 0: d_model / num_heads */
    int64_t ff_multiple;  /* d_ff follows d_model, this many times it; 0: it does not */
    char name[40];        /* of the model that a configuration file describes; "": a preset's */
    Architecture architecture;
    Norm norm;
    double norm_eps;
    Position position;
    int64_t positions; /* the longest context; 0: any */
    Rope rope;
    FeedForward feed_forward;
    int64_t num_experts;       /* of a feed-forward; 0: it has none */
    int64_t experts_per_token; /* those that a token goes through */
    int64_t expert_ff;         /* width of an expert; 0: d_ff */
    int64_t sparse_step;       /* layers whose number, from 1 on, it divides have experts; 0: all */
    uint64_t dense_layers[MODEL_LAYER_WORDS]; /* bit l: layer l has none, whatever the step is */
    bool norm_topk;                           /* the weights of a token's experts sum to 1 */
    int64_t window;      /* a query attends to its last keys, this many; 0: to all before it */
    int64_t window_from; /* the first layer that has the window */
    bool qkv_bias, output_bias, feed_forward_bias;
    bool qk_norm;           /* RMSNorm of each head of q and k before RoPE */
    bool tied;              /* the head multiplies with the token embedding */
    bool parallel_residual; /* x + attention(norm1(x)) + feed_forward(norm2(x)) */
    bool dropout;           /* the file asks for dropout; steps run without it */
    unsigned changed;       /* dimensions that options have replaced: 1 << OptionId of each */
} ModelSpec;

/* The names of presets.def, ended by NULL. */
extern const char *const model_spec_presets[];
/* Each dimension as cell_fields.def has it; 0 where presets have it. */
extern const ModelSpec model_spec_defaults;
/* Sets the dimensions that the preset has. ST_USAGE names the nearest preset. */
Status model_spec_preset(ModelSpec *spec, const char *name);

/* Is it read from a configuration file? */
bool model_spec_is_file(const ModelSpec *spec);
/* Sets d_ff where it follows d_model. ST_USAGE: it would be too large. */
Status model_spec_complete(ModelSpec *spec);
/* What must hold between its fields. ST_USAGE: one line that has the numbers. */
Status model_spec_check(const ModelSpec *spec);

/* What is not said follows from the rest. */
bool model_spec_has_window(const ModelSpec *spec); /* in one layer or more */
int64_t model_spec_kv_heads(const ModelSpec *spec);
int64_t model_spec_head_dim(const ModelSpec *spec);
int64_t model_spec_rotary_dim(const ModelSpec *spec); /* elements of a head that RoPE rotates */
int64_t model_spec_expert_ff(const ModelSpec *spec);
bool model_spec_has_experts(const ModelSpec *spec, int64_t layer);

/* A hash of every field that changes the computation, not of names: 12 hex digits. */
typedef struct ModelHash {
    char s[13];
} ModelHash;
ModelHash model_spec_hash(const ModelSpec *spec);
