/* A model's config.json (plan --model): the text alone, then as a file that a plan is made of. */
#include "config/model_file.h"
#include "harness.h"

#include <math.h>
#include <string.h>

static const unsigned refusals =
    HARNESS_MAY(USAGE) | HARNESS_MAY(UNSUPPORTED) | HARNESS_MAY(NO_MEMORY);

static bool is_positive(double x)
{
    return x > 0 && isfinite(x);
}

/* What is read can be computed with: nothing in it is negative, endless or unknown. */
static void check_spec(const ModelSpec *spec)
{
    if (spec->d_model < 1 || spec->d_ff < 1 || spec->num_layers < 1 || spec->num_heads < 1 ||
        spec->vocab < 1)
        harness_fail("a dimension below 1");
    const int64_t kv = model_spec_kv_heads(spec), D = model_spec_head_dim(spec);
    if (kv < 1 || spec->num_heads % kv != 0) harness_fail("%lld heads of k and v", (long long)kv);
    if (D < 1 || model_spec_rotary_dim(spec) < 0 || model_spec_rotary_dim(spec) > D)
        harness_fail("heads of %lld elements", (long long)D);
    if (spec->window < 0 || spec->window_from < 0 || spec->positions < 0)
        harness_fail("a window or positions below 0");
    if (!(spec->norm_eps >= 0) || !isfinite(spec->norm_eps)) harness_fail("eps %g", spec->norm_eps);
    if (spec->position == POSITION_HALVES && !is_positive(spec->rope.theta))
        harness_fail("theta %g", spec->rope.theta);
    if (spec->norm >= NORM_COUNT || spec->position >= POSITION_COUNT ||
        spec->feed_forward >= FEED_FORWARD_COUNT || spec->architecture >= ARCHITECTURE_COUNT)
        harness_fail("a part of no kind");
    if (!memchr(spec->name, '\0', sizeof spec->name) ||
        !memchr(spec->size, '\0', sizeof spec->size))
        harness_fail("a name without an end");
}

/* True when it was taken. */
static bool parse(const uint8_t *data, size_t n, ModelSpec *spec)
{
    ModelSpec again;
    *spec = again = model_spec_defaults;
    harness_forget();
    if (!harness_taken(model_file_parse(spec, (const char *)data, n, "config.json"), refusals))
        return false;
    check_spec(spec);
    if (!harness_taken(model_file_parse(&again, (const char *)data, n, "config.json"), 0))
        harness_fail("refused the second time");
    if (strcmp(model_spec_hash(spec).s, model_spec_hash(&again).s) != 0)
        harness_fail("two hashes of one model");
    return true;
}

/* A plan takes time with every layer. */
static void plan(const uint8_t *data, size_t n)
{
    const char *path = harness_put("model/config.json", data, n);
    const char *const words[] = {"plan", "--model", path, "--ctx", "4", "--batch", "1", NULL};
    harness_forget();
    harness_taken(harness_command(words), refusals);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    enum { MOST_LAYERS = 8 };
    ModelSpec spec;
    harness_folder();
    if (parse(data, n, &spec) && spec.num_layers <= MOST_LAYERS) plan(data, n);
    harness_clear();
    return 0;
}
