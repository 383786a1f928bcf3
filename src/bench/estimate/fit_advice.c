#include "bench/estimate/fit_advice.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

/* What may be changed; sets of them are tried. */
enum { RECOMPUTE = 1, BF16 = 2, BATCH = 4, CTX = 8, MICRO_BATCHES = 16 };
static const unsigned alone[] = {RECOMPUTE, BF16, MICRO_BATCHES, BATCH, CTX};
static const unsigned together[] = {
    RECOMPUTE | BF16, RECOMPUTE | MICRO_BATCHES,        RECOMPUTE | BATCH,       RECOMPUTE | CTX,
    BF16 | BATCH,     RECOMPUTE | BF16 | MICRO_BATCHES, RECOMPUTE | BF16 | BATCH};
enum { N_ALONE = sizeof alone / sizeof *alone, N_TOGETHER = sizeof together / sizeof *together };
enum { LEAST_CTX = 64 }; /* shorter contexts are no use */

typedef struct Trial {
    const Config *config;
    const Placement *placement;
    size_t resident, limit;
} Trial;

/* Is each of them a change, and one towards less memory? */
static bool applies(const Config *c, unsigned set)
{
    const bool saves = config_mode_has_backward(c->mode) && c->recompute == CONFIG_RECOMPUTE_NONE;
    const bool wide = c->precision == PRECISION_FP32 || c->precision == PRECISION_TF32;
    return (!(set & RECOMPUTE) || saves) && (!(set & BF16) || wide) &&
           (!(set & MICRO_BATCHES) || (c->mode == MODE_TRAIN && c->batch > 1)) &&
           (!(set & BATCH) || c->batch > 1) && (!(set & CTX) || c->ctx >= 2 * LEAST_CTX);
}

/* The same sequences in micro-batches of half as many, or the next fewer that divide them. */
static bool split(Config *c)
{
    enum { MOST_MICRO_BATCHES = 65536 }; /* of --accumulate */
    const int64_t sequences = c->batch * c->accumulate;
    for (int64_t n = 2 * c->accumulate; n <= sequences && n <= MOST_MICRO_BATCHES; n++) {
        if (sequences % n != 0) continue;
        c->batch = sequences / n;
        c->accumulate = n;
        return true;
    }
    return false;
}

/* Halves what is to be smaller; false: it is at its least. */
static bool shrink(Config *c, unsigned set)
{
    if (set & MICRO_BATCHES) return split(c);
    if (set & BATCH) {
        c->batch /= 2;
        return c->batch >= 1;
    }
    if (!(set & CTX)) return false;
    c->ctx /= 2;
    return c->ctx >= LEAST_CTX;
}

/* `changed` is the first that fits, the least changed one. */
static Status try_set(const Trial *trial, unsigned set, Config *changed, bool *fits)
{
    size_t need = 0;
    *fits = false;
    *changed = *trial->config;
    if (!applies(changed, set)) return ST_OK;
    if (set & RECOMPUTE) changed->recompute = CONFIG_RECOMPUTE_BLOCK; /* the most that auto does */
    if (set & BF16) changed->precision = PRECISION_BF16;
    if (set & (MICRO_BATCHES | BATCH | CTX) && !shrink(changed, set)) return ST_OK;
    do {
        TRY(fit_search_need(changed, trial->placement, changed->mode, trial->resident, &need));
        *fits = need <= trial->limit;
    } while (!*fits && shrink(changed, set));
    return ST_OK;
}

static void put_set(Text *out, unsigned set, const Config *changed)
{
    const char *before = "";
    if (set & RECOMPUTE) {
        text_puts(out, "--recompute auto");
        before = " with ";
    }
    if (set & BF16) {
        text_printf(out, "%s--precision bf16", before);
        before = " with ";
    }
    if (set & MICRO_BATCHES)
        text_printf(out, "%s--batch %" PRId64 " --accumulate %" PRId64, before, changed->batch,
                    changed->accumulate);
    if (set & BATCH) text_printf(out, "%s--batch %" PRId64, before, changed->batch);
    if (set & CTX) text_printf(out, "%s--ctx %" PRId64, before, changed->ctx);
}

static Status advise_one(const Trial *trial, Text *out)
{
    Config changed[N_ALONE];
    bool fits[N_ALONE];
    int n = 0, said = 0;
    for (int i = 0; i < N_ALONE; i++) {
        TRY(try_set(trial, alone[i], &changed[i], &fits[i]));
        n += fits[i];
    }
    for (int i = 0; i < N_ALONE; i++) {
        if (!fits[i]) continue;
        text_puts(out, said == 0 ? "" : said == n - 1 ? " or " : ", ");
        put_set(out, alone[i], &changed[i]);
        said++;
    }
    return text_status(out);
}

static Status advise_several(const Trial *trial, Text *out)
{
    Config changed;
    bool fits = false;
    for (int i = 0; i < N_TOGETHER && !fits; i++) {
        TRY(try_set(trial, together[i], &changed, &fits));
        if (fits) put_set(out, together[i], &changed);
    }
    return text_status(out);
}

Status fit_advice(const Config *config, const Placement *placement, size_t resident, size_t limit,
                  FitAdvice *out)
{
    const Trial trial = {config, placement, resident, limit};
    CLEANUP(text_free) Text text = {0};
    TRY(advise_one(&trial, &text));
    if (text.n == 0) TRY(advise_several(&trial, &text));
    snprintf(out->s, sizeof out->s, "%s", text_str(&text));
    return ST_OK;
}
