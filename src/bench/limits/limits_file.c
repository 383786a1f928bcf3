#include "bench/limits/limits_file.h"

#include "base/gzip_file.h"
#include "bench/limits/limits_json.h"

#include <stdio.h>

static Status check(const Limits *limits)
{
    for (int p = 0; p < PRECISION_COUNT; p++) {
        if (limits_peak_flops(limits, (Precision)p) > 0) return ST_OK;
    }
    return FAIL(ST_USAGE, "it has no rate of products");
}

static Status parse(Limits *out, const Text *text)
{
    TRY(limits_json_read(out, text_str(text), text->n));
    return check(out);
}

/* What jansson stumbled over may hold line breaks; main() puts the message on one line. */
Status limits_file_read(Limits *out, const char *path)
{
    static const size_t most = (size_t)1 << 20;
    Text text = {0};
    Status status = gzip_file_read(&text, path, most);
    if (status == ST_OK) {
        status = parse(out, &text);
        if (status != ST_OK && status != ST_NO_MEMORY)
            status_context("%s is no file of roofstep limits --format json", path);
    }
    text_free(&text);
    return status == ST_IO ? ST_USAGE : status; /* nothing was done yet */
}

LimitsFileName limits_file_name(const Limits *limits)
{
    LimitsFileName name;
    const LimitsKey *key = &limits->key;
    if (*key->gpu)
        snprintf(name.s, sizeof name.s, "%s", key->gpu);
    else
        snprintf(name.s, sizeof name.s, "%s, %d thread%s", key->cpu, key->threads,
                 key->threads == 1 ? "" : "s");
    return name;
}
