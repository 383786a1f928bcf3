#include "bench/record/one_rank.h"

#include "bench/record/record_stat.h"
#include "config/cell_field.h"

#include <string.h>

/* Who multiplies has another name in results than on the command line; threads are those of a CPU's step. */
static bool decides(int id, bool cpu)
{
    return cell_field_table[id].part <= CELL_PART_PLAN && cell_field_table[id].name &&
           id != OPTION_BLAS && (id != OPTION_THREADS || cpu);
}

/* A count that is 1 is not in older results. */
static bool is_equal(int id, const json_t *x, const json_t *y)
{
    const json_t *there = x ? x : y;
    if (x == y || json_equal(x, y)) return true;
    return (!x || !y) && cell_field_table[id].show == CELL_SHOW_REPEATS &&
           json_integer_value(there) == 1;
}

static bool is_alike(const Record *a, const Record *b)
{
    const char *device = record_text(a, "device");
    const bool cpu = !device || strcmp(device, "cpu") == 0;
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (!decides(id, cpu)) continue;
        const char *name = cell_field_table[id].name;
        if (!is_equal(id, record_value(a, name), record_value(b, name))) return false;
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
