#include "config/cell_field.h"

#include <string.h>

const CellField cell_field_table[CELL_FIELD_COUNT] = {
#define CELL(id, option, kind, member, words, least, most, value, help, name, label, subject, \
             part, need, show, key, csv, peer)                                                \
    {name, label, CELL_OF_##subject, CELL_PART_##part, CELL_NEED_##need, CELL_SHOW_##show,    \
     key,  csv,   CELL_PEER_##peer},
#include "config/cell_fields.def"
};

bool cell_field_of(int id, Subject subject)
{
    return (cell_field_table[id].subject & 1 << subject) != 0;
}

bool cell_field_applies(int id, const Config *c)
{
    if ((id == OPTION_FP8_RECIPE || id == OPTION_FP8_LAYERS) && c->precision != PRECISION_FP8)
        return false;
    if (id == OPTION_ROUTING && c->model.num_experts == 0) return false;
    if (id == OPTION_CURVE && c->curve == 0) return false;
    return cell_field_of(id, c->subject);
}

bool cell_field_is_work(int id)
{
    const CellPart part = cell_field_table[id].part;
    return part <= CELL_PART_PLAN || part == CELL_PART_RANKS;
}

int cell_field_find(const char *name)
{
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        const char *own = cell_field_table[id].name;
        if (own && strcmp(own, name) == 0) return id;
    }
    return -1;
}
