/* A value of an option: read from text, kept in a cell, compared, checked, written. */
#pragma once

#include "config/option.h"

/* The option's kind says which field holds it; the others are 0. */
typedef struct OptionValue {
    int64_t number; /* INT, BYTES, CHOICE, RECOMPUTE, LINEARS */
    double real;    /* REAL, SECONDS, PERCENT, SCALE */
    char word[40];  /* PRESET, DEVICE; of MODEL its hash, "" of a preset */
    ModelSpec
        *model; /* MODEL: what option_value_read() has read, for the caller to free; not compared */
} OptionValue;

/* Strict, and within the option's bounds; the message does not name the option. For the kinds that
 * cells and limits have: not FORMAT, TEXT, FLAG. */
Status option_value_read(OptionId id, const char *s, OptionValue *out);
/* One of the command's formats; NULL for its first. ST_USAGE lists them. */
Status option_value_read_format(const OptionSet *set, const char *s, char format[16]);
/* The place of `s` in a list that NULL ends. ST_USAGE lists its words and says which is meant most likely. */
Status option_value_read_word(const char *s, const char *const *words, int64_t *index);
Status option_value_check_integer(OptionId id, int64_t x);

/* The option's field of `owner`, a Config or a Settings: read and written. */
OptionValue option_value_load(OptionId id, const void *owner);
void option_value_store(OptionId id, const OptionValue *value, void *owner);

/* As strcmp does; of cells, by this field. */
int option_value_compare(const OptionValue *a, const OptionValue *b);
int option_value_compare_cells(OptionId id, const Config *a, const Config *b);
/* Is a cell's field within its bounds? ST_USAGE names the option. */
Status option_value_check(OptionId id, const Config *config);
/* A cell's field as a command line, a key and a peer have it: "512", "bf16", "dynamic"; bytes,
 * seconds and fractions without a unit. */
ConfigText option_value_text(OptionId id, const Config *config);
