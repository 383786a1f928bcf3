#include "cli/plan/config_json.h"

Status config_json_put(json_t *json, const Config *config, const Placement *placement,
                       Attention used, const char *unsupported)
{
    const Config *c = config;
    const Attention attention = unsupported ? c->attention : used;
    TRY(record_put_text(json, "size", c->model.size));
    TRY(record_put_int(json, "d_model", c->model.d_model));
    TRY(record_put_int(json, "d_ff", c->model.d_ff));
    TRY(record_put_int(json, "num_layers", c->model.num_layers));
    TRY(record_put_int(json, "num_heads", c->model.num_heads));
    TRY(record_put_int(json, "vocab", c->model.vocab));
    TRY(record_put_int(json, "ctx", c->ctx));
    TRY(record_put_int(json, "batch", c->batch));
    TRY(record_put_text(json, "device", unsupported ? c->device : placement->name));
    TRY(record_put_text(json, "precision", config_precision_name(c->precision)));
    TRY(record_put_text(json, "attention", config_attention_name(attention)));
    TRY(record_put_text(json, "exec", config_exec_name(c->exec)));
    TRY(record_put_text(json, "recompute", config_recompute_text(c->recompute).s));
    TRY(record_put_text(json, "mode", config_mode_name(c->mode)));
    TRY(record_put_text(json, "status", unsupported ? "unsupported" : "ok"));
    return unsupported ? record_put_text(json, "message", unsupported) : ST_OK;
}
