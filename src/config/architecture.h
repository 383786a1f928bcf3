/* The classes of `transformers` whose files are read, and the fields of these files: the rows of
 * architectures.def. */
#pragma once

#include "config/model_spec.h"

#include <stddef.h>

/* Which names fields and parameters have in files. A field may be of several families, and so may a class:
 * Mixtral is a Llama with names of its own for experts. */
typedef enum Family {
    FAMILY_OWN = 0,
    FAMILY_LLAMA = 1,
    FAMILY_NEOX = 2,
    FAMILY_GPT2 = 4,
    FAMILY_MIXTRAL = 8,
    FAMILY_QWEN3_MOE = 16
} Family;

typedef struct ArchitectureInfo {
    const char *class_name, *model_type; /* NULL of the project's own */
    unsigned families;
    ModelSpec silent; /* what a file means that does not say */
} ArchitectureInfo;
extern const ArchitectureInfo architecture_table[ARCHITECTURE_COUNT];

typedef enum FieldKind {
    FIELD_COUNT,
    FIELD_EPSILON,
    FIELD_SHARE,
    FIELD_THETA,
    FIELD_FLAG,
    FIELD_KINDS
} FieldKind;
typedef enum FieldNeed { FIELD_OPTIONAL, FIELD_REQUIRED } FieldNeed;

/* A field of a file that is one member of ModelSpec: an int64_t (COUNT), a bool (FLAG) or a double. */
typedef struct ArchitectureField {
    unsigned families;
    const char *name;
    FieldKind kind;
    size_t offset;
    FieldNeed need;
} ArchitectureField;
extern const ArchitectureField architecture_fields[]; /* ended by a NULL name */

typedef struct DropoutField {
    unsigned families;
    const char *name;
    double share; /* where the file has none */
} DropoutField;
extern const DropoutField architecture_dropouts[]; /* ended by a NULL name */

/* A flag in the files of one class that decides of a bias, a bool of ModelSpec. */
typedef struct BiasField {
    Architecture architecture;
    const char *name;
    size_t offset;
} BiasField;
extern const BiasField architecture_biases[]; /* ended by a NULL name */

/* A field that is not supported unless it has this value. */
typedef struct NeutralField {
    const char *name;
    double value;
} NeutralField;
extern const NeutralField architecture_neutral[]; /* ended by a NULL name */
