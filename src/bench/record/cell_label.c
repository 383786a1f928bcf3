#include "bench/record/cell_label.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void add(CellLabel *label, const char *fmt, ...)
{
    const size_t n = strlen(label->s);
    va_list args;
    va_start(args, fmt);
    vsnprintf(label->s + n, sizeof label->s - n, fmt, args);
    va_end(args);
}

static void add_number(CellLabel *label, bool shown, const char *name, int64_t value)
{
    if (shown) add(label, " %s %lld", name, (long long)value);
}

static void add_word(CellLabel *label, bool shown, const char *word)
{
    if (shown) add(label, " %s", word);
}

CellLabel cell_label(const Config *c, const bool *varies)
{
    static const bool nothing[OPTION_COUNT];
    const bool *v = varies ? varies : nothing;
    const bool alone = c->subject == SUBJECT_ATTENTION;
    const bool custom =
        strcmp(c->model.size, "custom") == 0; /* a preset's name says its dimensions */
    CellLabel label;
    snprintf(label.s, sizeof label.s, "%s", alone ? "attention" : c->model.size);
    add_number(&label, custom && v[OPTION_D_MODEL], "d-model", c->model.d_model);
    add_number(&label, custom && v[OPTION_D_FF], "d-ff", c->model.d_ff);
    add_number(&label, custom && v[OPTION_NUM_LAYERS], "layers", c->model.num_layers);
    add_number(&label, custom && v[OPTION_NUM_HEADS], "heads", c->model.num_heads);
    add_number(&label, !alone && v[OPTION_VOCAB], "vocab", c->model.vocab);
    add_number(&label, alone && v[OPTION_D_HEAD], "d-head", c->d_head);
    add_number(&label, alone && v[OPTION_HEADS], "heads", c->heads);
    add_number(&label, v[OPTION_CTX], "ctx", c->ctx);
    add_number(&label, v[OPTION_BATCH], "batch", c->batch);
    add_word(&label, alone && v[OPTION_MASK], config_mask_name(c->mask));
    add_word(&label, v[OPTION_DEVICE], c->device);
    add_word(&label, v[OPTION_PRECISION], config_precision_name(c->precision));
    add_word(&label, v[OPTION_ATTENTION], config_attention_name(c->attention));
    add_word(&label, v[OPTION_EXEC], config_exec_name(c->exec));
    if (v[OPTION_RECOMPUTE]) add(&label, " recompute %s", config_recompute_text(c->recompute).s);
    add_word(&label, v[OPTION_MODE], config_mode_name(c->mode));
    add_number(&label, v[OPTION_THREADS], "threads", c->threads);
    add_word(&label, v[OPTION_BLAS], config_blas_name(c->blas));
    add_number(&label, v[OPTION_WARMUP], "warmup", c->warmup);
    add_number(&label, v[OPTION_STEPS], "steps", c->steps);
    add_number(&label, v[OPTION_SEED], "seed", c->seed);
    return label;
}

/* The same cell but for its seed. */
static bool is_twin(const Config *a, const Config *b, const bool *varies)
{
    if (a->subject != b->subject || a->seed == b->seed) return false;
    for (int id = 0; id < OPTION_COUNT; id++) {
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
