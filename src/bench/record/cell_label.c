#include "bench/record/cell_label.h"

#include "config/cell_field.h"

#include <stdio.h>
#include <string.h>

/* A choice says what it is of: "bf16"; a number does not, nor a second precision. */
static bool is_word(int id)
{
    if (id == OPTION_COMM_PRECISION) return false;
    return option_table[id].kind == OPTION_KIND_CHOICE ||
           option_table[id].kind == OPTION_KIND_DEVICE;
}

/* The name of a preset or of a model says its dimensions, but for those that options replaced. */
static bool is_known_by_name(int id, const ModelSpec *model)
{
    const bool custom = cell_field_table[id].show == CELL_SHOW_CUSTOM;
    if (!model_spec_is_file(model)) return custom && strcmp(model->size, "custom") != 0;
    return (custom || id == OPTION_VOCAB) && !(model->changed & 1u << id);
}

CellLabel cell_label(const Config *c, const bool *varies)
{
    CellLabel label;
    snprintf(label.s, sizeof label.s, "%s",
             c->subject == SUBJECT_ATTENTION    ? "attention"
             : c->subject == SUBJECT_COLLECTIVE ? "collective"
                                                : c->model.size);
    for (int id = 0; varies && id < CELL_FIELD_COUNT; id++) {
        const CellField *field = &cell_field_table[id];
        const size_t n = strlen(label.s);
        if (!varies[id] || !field->label || id == OPTION_SIZE || !option_is_axis(id)) continue;
        if (!cell_field_applies(id, c)) continue;
        if (is_known_by_name(id, &c->model)) continue;
        if (id == OPTION_BUCKET && c->bucket == 0) continue; /* of ddp as usual, of others none */
        if (id == OPTION_LOSS_SCALE && c->precision != PRECISION_FP16) continue;
        if (id == OPTION_COMM_PRECISION && c->comm_precision == COMM_PRECISION_AUTO) continue;
        snprintf(label.s + n, sizeof label.s - n, " %s%s%s", is_word(id) ? "" : field->label,
                 is_word(id) ? "" : " ", option_value_text((OptionId)id, c).s);
    }
    return label;
}

/* The same cell but for its seed. */
static bool is_twin(const Config *a, const Config *b, const bool *varies)
{
    if (a->subject != b->subject || a->seed == b->seed) return false;
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (id == OPTION_SEED || !varies[id]) continue;
        if (option_value_compare_cells((OptionId)id, a, b) != 0) return false;
    }
    return true;
}

CellLabel cell_label_among(const Config *config, const Config *all, int n, const bool *varies)
{
    bool shown[OPTION_COUNT] = {0};
    bool twin = false;
    if (!varies || !varies[OPTION_SEED]) return cell_label(config, varies);
    for (int i = 0; i < n && !twin; i++) twin = is_twin(config, &all[i], varies);
    memcpy(shown, varies, sizeof shown);
    shown[OPTION_SEED] = twin;
    return cell_label(config, shown);
}
