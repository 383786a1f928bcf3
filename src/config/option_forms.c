#include "config/option_forms.h"

#include "base/human.h"
#include "base/parse.h"
#include "config/config.h"

#include <string.h>
#include <strings.h>

Status option_forms_scale(const char *s, double *out)
{
    if (strcasecmp(s, "dynamic") == 0) {
        *out = CONFIG_SCALE_DYNAMIC;
        return ST_OK;
    }
    if (strcasecmp(s, "none") == 0) {
        *out = CONFIG_SCALE_NONE;
        return ST_OK;
    }
    if (parse_real(s, out) != ST_OK || *out <= 0)
        return FAIL(ST_USAGE, "%s is neither dynamic, none nor a positive number",
                    human_quote(s).s);
    return ST_OK;
}

Status option_forms_routing(const char *s, double *out)
{
    static const char skewed[] = "skewed:";
    const bool is_model = strcasecmp(s, "model") == 0, is_even = strcasecmp(s, "even") == 0;
    *out = is_even ? CONFIG_ROUTING_EVEN : CONFIG_ROUTING_MODEL;
    if (is_model || is_even) return ST_OK;
    if (strncasecmp(s, skewed, strlen(skewed)) != 0 ||
        parse_real(s + strlen(skewed), out) != ST_OK || !(*out > CONFIG_ROUTING_EVEN))
        return FAIL(ST_USAGE,
                    "%s is neither model, even nor skewed: and a number above 1, as skewed:2",
                    human_quote(s).s);
    return ST_OK;
}

Status option_forms_recompute(const char *s, int64_t *out)
{
    static const struct {
        const char *word;
        int64_t value;
    } words[] = {{"none", CONFIG_RECOMPUTE_NONE},
                 {"block", CONFIG_RECOMPUTE_BLOCK},
                 {"auto", CONFIG_RECOMPUTE_AUTO}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        *out = words[i].value;
        if (strcasecmp(s, words[i].word) == 0) return ST_OK;
    }
    if (parse_int(s, out) != ST_OK || *out < 1)
        return FAIL(ST_USAGE, "%s is neither none, block, auto nor a number of blocks",
                    human_quote(s).s);
    return ST_OK;
}

/* "w1" is what "w13" is called where the feed-forward has no gate. */
static bool find_linear(const char *word, size_t n, int *linear)
{
    if (n == 2 && strncasecmp(word, "w1", n) == 0) {
        *linear = LINEAR_W13;
        return true;
    }
    for (*linear = 0; *linear < LINEAR_COUNT; ++*linear) {
        const char *own = config_linears[*linear];
        if (strlen(own) == n && strncasecmp(word, own, n) == 0) return true;
    }
    return false;
}

Status option_forms_linears(const char *s, int64_t *out)
{
    static const int64_t whole[] = {CONFIG_LINEARS_ALL, CONFIG_LINEARS_AUTO, CONFIG_LINEARS_NONE};
    int64_t set = 0;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        *out = whole[i];
        if (strcasecmp(s, config_linears_text(whole[i]).s) == 0) return ST_OK;
    }
    for (const char *word = s;; word++) {
        const size_t n = strcspn(word, "+");
        int linear = 0;
        if (!find_linear(word, n, &linear))
            return FAIL(ST_USAGE,
                        "%s is neither all, auto, none nor some of qkv, output, w13 and w2, as "
                        "w13+w2",
                        human_quote(s).s);
        set |= 1 << linear;
        word += n;
        if (!*word) break;
    }
    *out = set == CONFIG_LINEARS_SETS - 1 ? CONFIG_LINEARS_ALL : set;
    return ST_OK;
}
