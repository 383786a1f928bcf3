#include "cli/plan/sweep_note.h"

#include "base/human.h"

void sweep_note(Table *table, const Sweep *sweep, const Config *c, const Placement *placement,
                Attention attention)
{
    const bool *v = sweep->varies;
    Text text = {0};
    text_puts(&text, sweep->n == 1 ? "" : "every cell:");
    if (!v[OPTION_SIZE] && !v[OPTION_D_MODEL] && !v[OPTION_D_FF] && !v[OPTION_NUM_LAYERS] &&
        !v[OPTION_NUM_HEADS]) {
        text_printf(&text, " %s (d_model %lld, d_ff %lld, %lld layers, %lld heads),", c->model.size,
                    (long long)c->model.d_model, (long long)c->model.d_ff,
                    (long long)c->model.num_layers, (long long)c->model.num_heads);
    }
    if (!v[OPTION_VOCAB]) text_printf(&text, " vocabulary %s,", human_count(c->model.vocab).s);
    if (!v[OPTION_CTX]) text_printf(&text, " ctx %lld,", (long long)c->ctx);
    if (!v[OPTION_BATCH]) text_printf(&text, " batch %lld,", (long long)c->batch);
    if (!v[OPTION_PRECISION]) text_printf(&text, " %s,", config_precision_name(c->precision));
    if (!v[OPTION_EXEC]) text_printf(&text, " %s,", config_exec_name(c->exec));
    if (!v[OPTION_ATTENTION] && !v[OPTION_EXEC] && placement)
        text_printf(&text, " %s attention,", config_attention_name(attention));
    if (!v[OPTION_RECOMPUTE] && c->recompute != CONFIG_RECOMPUTE_NONE)
        text_printf(&text, " recompute %s,", config_recompute_text(c->recompute).s);
    if (!v[OPTION_MODE]) text_printf(&text, " mode %s,", config_mode_name(c->mode));
    if (!v[OPTION_DEVICE] && placement) text_printf(&text, " %s,", placement->name);
    if (!v[OPTION_THREADS] && placement)
        text_printf(&text, " %d thread%s,", placement->threads, placement->threads == 1 ? "" : "s");
    if (text.n && text.data[text.n - 1] == ',') text.data[--text.n] = '\0';
    table_note(table, text_str(&text) + (sweep->n == 1), NULL);
    table->failed = table->failed || text.failed;
    text_free(&text);
}
