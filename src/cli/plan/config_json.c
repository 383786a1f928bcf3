#include "cli/plan/config_json.h"

#include "config/cell_field.h"

Config config_json_used(const Config *config, const Placement *placement, Attention attention)
{
    Config used = placement_settle(config, placement);
    used.attention = attention;
    return used;
}

Status config_json_put(json_t *json, const Config *config, const Placement *placement,
                       Attention attention, const char *unsupported)
{
    const Config shown = unsupported ? *config : config_json_used(config, placement, attention);
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (id == OPTION_BLAS) continue; /* of results: who did multiply */
        if (cell_field_is_work(id) && cell_field_of(id, config->subject))
            TRY(record_put_field(json, id, &shown));
    }
    TRY(record_put_text(json, "status", unsupported ? "unsupported" : "ok"));
    return unsupported ? record_put_text(json, "message", unsupported) : ST_OK;
}
