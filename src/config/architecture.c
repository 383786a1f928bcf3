#include "config/architecture.h"

#include "config/family_names.h"

const ArchitectureInfo architecture_table[ARCHITECTURE_COUNT] = {
#define ARCHITECTURE(id, class, type, families, ...) \
    [ARCHITECTURE_##id] = {class, type, families, {.architecture = ARCHITECTURE_##id, __VA_ARGS__}},
#include "config/architectures.def"
};

const ArchitectureField architecture_fields[] = {
#define FIELD(families, name, kind, member, need) \
    {families, name, FIELD_##kind, offsetof(ModelSpec, member), FIELD_##need},
#include "config/architectures.def"
    {0},
};

const DropoutField architecture_dropouts[] = {
#define DROPOUT(families, name, share) {families, name, share},
#include "config/architectures.def"
    {0},
};

const BiasField architecture_biases[] = {
#define BIAS(id, name, member) {ARCHITECTURE_##id, name, offsetof(ModelSpec, member)},
#include "config/architectures.def"
    {0},
};

const NeutralField architecture_neutral[] = {
#define NEUTRAL(name, value) {name, value},
#include "config/architectures.def"
    {0},
};
