#include "config/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WORD(constant, word) word,
const char *const config_modes[] = {CONFIG_MODES(WORD) NULL};
const char *const config_precisions[] = {CONFIG_PRECISIONS(WORD) NULL};
const char *const config_fp8_recipes[] = {CONFIG_FP8_RECIPES(WORD) NULL};
const char *const config_linears[] = {CONFIG_LINEARS(WORD) NULL};
const char *const config_attentions[] = {CONFIG_ATTENTIONS(WORD) NULL};
const char *const config_execs[] = {CONFIG_EXECS(WORD) NULL};
const char *const config_blases[] = {CONFIG_BLASES(WORD) NULL};
const char *const config_masks[] = {CONFIG_MASKS(WORD) NULL};
const char *const config_stats[] = {CONFIG_STATS(WORD) NULL};
const char *const config_collectives[] = {CONFIG_COLLECTIVES(WORD) NULL};
const char *const config_comm_precisions[] = {CONFIG_COMM_PRECISIONS(WORD) NULL};
const char *const config_parallels[] = {CONFIG_PARALLELS(WORD) NULL};

bool config_parallel_shards(Parallel parallel)
{
    return parallel == PARALLEL_ZERO1 || parallel == PARALLEL_FSDP;
}

bool config_mode_saves(Mode mode)
{
    return mode != MODE_FWD;
}

bool config_mode_has_backward(Mode mode)
{
    return mode == MODE_FWD_BWD || mode == MODE_TRAIN;
}

double config_tokens(const Config *config)
{
    const double micro_batches = config->accumulate > 1 ? (double)config->accumulate : 1;
    return micro_batches * (double)config->batch * (double)config->ctx;
}

double config_sample_seconds(const Config *config)
{
    const double enough = 60; /* for --until without --sample-time */
    const double share = config->sample_share;
    const double asked =
        config->sample_time > 0 || !(config->until > 0) ? config->sample_time : enough;
    return share > 0 && !(asked > 0 && asked < share) ? share : asked;
}

bool config_scales_loss(const Config *config)
{
    return config->precision == PRECISION_FP16 && config->loss_scale != CONFIG_SCALE_NONE;
}

ConfigText config_loss_scale_text(double loss_scale)
{
    ConfigText text = {"dynamic"};
    if (loss_scale == CONFIG_SCALE_NONE) strcpy(text.s, "none");
    if (loss_scale > 0) snprintf(text.s, sizeof text.s, "%.15g", loss_scale);
    return text;
}

ConfigText config_linears_text(int64_t linears)
{
    ConfigText text = {"all"};
    if (linears == CONFIG_LINEARS_AUTO) strcpy(text.s, "auto");
    if (linears == CONFIG_LINEARS_NONE) strcpy(text.s, "none");
    if (linears == CONFIG_LINEARS_ALL || linears >= CONFIG_LINEARS_SETS) return text;
    text.s[0] = '\0';
    for (int i = 0; i < LINEAR_COUNT; i++) {
        const size_t n = strlen(text.s);
        if (linears & 1 << i)
            snprintf(text.s + n, sizeof text.s - n, "%s%s", n ? "+" : "", config_linears[i]);
    }
    return text;
}

bool config_linears_have(int64_t linears, int linear)
{
    if (linears == CONFIG_LINEARS_ALL || linears == CONFIG_LINEARS_AUTO) return true;
    return linear < LINEAR_COUNT && linears < CONFIG_LINEARS_SETS && (linears & 1 << linear);
}

ConfigText config_routing_text(double routing)
{
    ConfigText text = {"model"};
    if (routing == CONFIG_ROUTING_EVEN) strcpy(text.s, "even");
    if (routing > CONFIG_ROUTING_EVEN) snprintf(text.s, sizeof text.s, "skewed:%.15g", routing);
    return text;
}

ConfigText config_recompute_text(int64_t recompute)
{
    ConfigText text = {"none"};
    if (recompute == CONFIG_RECOMPUTE_AUTO) strcpy(text.s, "auto");
    if (recompute == CONFIG_RECOMPUTE_BLOCK) strcpy(text.s, "block");
    if (recompute > CONFIG_RECOMPUTE_BLOCK) snprintf(text.s, sizeof text.s, "%" PRId64, recompute);
    return text;
}

void config_defaults(Config *config)
{
    *config = (Config){
        .model = model_spec_defaults,
        .d_head = 64,
        .heads = 1,
        .bytes = 1 << 20,
        .ranks = 1,

        .ctx = 128,
        .batch = 4,
        .accumulate = 1,
        .device = "auto",
        .mode = MODE_TRAIN,
        .precision = PRECISION_FP32,
        .attention = ATTENTION_AUTO,
        .exec = EXEC_FUSED,
        .warmup = 5,
        .steps = 10,
        .lr = 1e-3,
        .timeout = 600,
    };
    model_spec_preset(&config->model, "small");
}

/* As the write-ups measured it. */
void config_attention_defaults(Config *config)
{
    config_defaults(config);
    config->subject = SUBJECT_ATTENTION;
    config->model.size[0] = '\0';
    config->ctx = 1024;
    config->batch = 8;
    config->mode = MODE_FWD_BWD;
    config->warmup = 10;
    config->steps = 100;
    config->sample_time = 1;
}

/* Many samples, each of several calls, within a second. */
void config_collective_defaults(Config *config)
{
    config_defaults(config);
    config->subject = SUBJECT_COLLECTIVE;
    config->model.size[0] = '\0';
    config->ranks = 2;
    config->warmup = 5;
    config->steps = 100;
    config->sample_time = 1;
    config->timeout = 120;
}

/* Small enough for a step in float64. */
void config_precision_defaults(Config *config)
{
    config_defaults(config);
    model_spec_preset(&config->model, "tiny");
    config->warmup = 2;
    config->steps = 5;
}

/* A cell for every setting, started several times over. */
void config_warmup_defaults(Config *config)
{
    config_defaults(config);
    model_spec_preset(&config->model, "tiny");
    config->from_first = true;
}
