/* roofstep limits: the machine's measured roof. */
#include "base/json_text.h"
#include "bench/limits/limits_cache.h"
#include "bench/limits/limits_json.h"
#include "bench/limits/limits_links.h"
#include "cli/collective_launch.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/format/table_write.h"
#include "report/study/limits_table.h"

#include <stdio.h>
#include <string.h>

static Status write_json(Text *text, const Limits *limits)
{
    CLEANUP(json_text_free) json_t *json = NULL;
    TRY(limits_json_encode(&json, limits));
    return output_json(text, json);
}

static void put_csv_row(Text *text, LimitId id, int threads, const LimitsRate *r)
{
    text_printf(text, "%s,%s,%d,%.6g,%.6g,%.6g,%d\n", limits_names[id].name, limits_unit(id),
                threads, r->median, r->min, r->max, r->n);
}

/* In units per second, for programs. A GPU's rows have 0 threads. */
static Status write_csv(Text *text, const Limits *limits)
{
    text_puts(text, "limit,unit,threads,median,min,max,n\n");
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const LimitId id = (LimitId)i;
        if (!limits_shows(limits, id)) continue;
        if (limits_has_scope(&limits->key, id, LIMITS_ONE))
            put_csv_row(text, id, 1, &limits->rate[i][LIMITS_ONE]);
        put_csv_row(text, id, limits->key.threads, &limits->rate[i][LIMITS_ALL]);
    }
    return text_status(text);
}

/* `no_links`: why there are none; NULL: there are some, or it is a GPU. */
static Status write_as(Text *text, const char *format, const Limits *limits, const char *no_links)
{
    Table table = {0};
    if (strcmp(format, "json") == 0) return write_json(text, limits);
    if (strcmp(format, "csv") == 0) return write_csv(text, limits);
    limits_table_fill(&table, limits);
    if (no_links) table_note_printf(&table, "links between ranks are not measured: %s", no_links);
    TRY(table_write_next(text, format, &table));
    CLEANUP(text_free) Text balance = {0};
    limits_table_balance(&balance, limits);
    return table_write_conclusion(text, format, &balance);
}

/* Without MPI the rest is as good. */
static Status add_links(const Settings *settings, Limits *limits, char *why, size_t size)
{
    const RankLaunch launch = collective_launch(settings);
    Limits links;
    const Status status = limits_links_get(&launch, settings->refresh, settings->keep, &links);
    if (status == ST_INTERRUPTED) return status;
    if (status == ST_OK)
        limits_links_add(limits, &links);
    else
        snprintf(why, size, "%s", status_message());
    return ST_OK;
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)exit_code;
    Limits limits;
    Text text = {0};
    char no_links[256] = "";
    TRY(output_check_file(settings));
    TRY(limits_cache_get(&sweep->configs[0], settings->refresh, settings->keep, &limits));
    if (!*limits.key.gpu) TRY(add_links(settings, &limits, no_links, sizeof no_links));
    return output_finish(settings, &text,
                         write_as(&text, settings->format, &limits, *no_links ? no_links : NULL));
}

const Command cmd_limits = {
    .name = "limits",
    .summary =
        "the machine's measured roof: matrix multiplication, memory bandwidth, launches, links",
    .help = "Measures what this machine can do and stores it (~/.cache/roofstep) for '% of limit'\n"
            "and MFU; where there is MPI also the links between ranks, for 'plan --ranks'. Takes "
            "about\n"
            "a minute. Leave the machine idle: figures of a busy machine\n"
            "are printed but not stored, unless --keep is given.\n"
            "\n"
            "  roofstep limits\n"
            "  roofstep limits --device cuda\n"
            "  roofstep limits --refresh --format json\n",
    .options = {.taken = OPTION_LIST(OPTION_DEVICE, OPTION_THREADS, OPTION_REFRESH, OPTION_KEEP,
                                     OPTIONS_OUTPUT),
                .formats = "md csv json latex typst"},
    .run = run,
};
