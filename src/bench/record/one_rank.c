#include "bench/record/one_rank.h"

#include "bench/record/record_stat.h"
#include "config/cell_field.h"

#include <string.h>

/* Who multiplies has another name in results than on the command line. */
static bool decides(int id)
{
    return cell_field_table[id].part <= CELL_PART_PLAN && cell_field_table[id].name &&
           id != OPTION_BLAS;
}

static bool is_alike(const Record *a, const Record *b)
{
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (!decides(id)) continue;
        const json_t *x = record_value(a, cell_field_table[id].name);
        const json_t *y = record_value(b, cell_field_table[id].name);
        if (x != y && !json_equal(x, y)) return false;
    }
    return true;
}

static bool is_measured_alone(const Record *r)
{
    const char *mode = record_text(r, "mode"), *measured = record_text(r, "measured_mode");
    int64_t ranks = 1;
    double ms;
    record_int(r, "ranks", &ranks);
    return ranks == 1 && !record_text(r, "peer") && record_status(r) == RECORD_OK && mode &&
           measured && strcmp(mode, measured) == 0 && record_stat_ms(r, "step", &ms) && ms > 0;
}

const Record *one_rank_find(const RecordSet *rows, const Record *like)
{
    for (size_t i = record_set_size(rows); i-- > 0;) {
        const Record *row = record_set_at(rows, i);
        if (is_measured_alone(row) && is_alike(row, like)) return row;
    }
    return NULL;
}

bool one_rank_ms(const RecordSet *rows, const Record *like, double *ms)
{
    const Record *row = one_rank_find(rows, like);
    return row && record_stat_ms(row, "step", ms);
}
