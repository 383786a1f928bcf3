#include "bench/cell/cell_record.h"

#include "base/clock.h"
#include "base/human.h"
#include "base/json_text.h"
#include "base/stats.h"
#include "bench/measure/interference.h"
#include "bench/record/record_check.h"
#include "bench/record/record_stat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double noisy = 0.05; /* uncertainty from which on a record warns */
enum { FEWEST_TO_JUDGE = 5 };     /* samples: among fewer none can be called an outlier */

static Status new_record(CellRecord *c)
{
    return c->peer ? peer_record_new(&c->record, c->peer, c->config)
                   : record_new(&c->record, c->config);
}

Status cell_record_begin(CellRecord *c, const Config *config, const Peer *peer)
{
    *c = (CellRecord){.config = config, .peer = peer};
    return new_record(c);
}

void cell_record_again(CellRecord *c)
{
    c->ended = false;
    c->steps_begun = c->done = c->of = 0;
    c->stage[0] = '\0';
}

bool cell_record_is_ok(const CellRecord *c, const ChildResult *end)
{
    return end->end == CHILD_RETURNED && end->code == 0 && c->ended && !c->garbled[0] &&
           record_status(c->record) == RECORD_OK;
}

void cell_record_free(CellRecord *c)
{
    json_decref(c->record);
    for (int s = 0; s < SAMPLE_COUNT; s++) sample_list_free(&c->series[s]);
    *c = (CellRecord){0};
}

/* ---- a record of an earlier run ---- */

/* The plan said so before anything was allocated, and would say it again: then a phase has its
 * shortage, or the float64 reference. Memory that ran out during the run may be there the next time.
 * Of a peer nothing is planned. */
static bool is_planned_oom(const Record *record)
{
    bool planned = record_text(record, "peer") != NULL ||
                   record_phase_status(record, "reference") == RECORD_OOM;
    for (int s = SAMPLE_FORWARD; s <= SAMPLE_OPTIMIZER; s++)
        planned |= record_phase_status(record, sample_series_name((SampleSeries)s)) == RECORD_OOM;
    return planned && record_status(record) == RECORD_OOM;
}

bool cell_record_is_final(const Record *record)
{
    const RecordStatus status = record_status(record);
    return status == RECORD_OK || status == RECORD_UNSUPPORTED || is_planned_oom(record);
}

/* ---- messages ---- */

static const double longest = 1e9; /* seconds: a lifetime */

static void take_sample(CellRecord *c, const json_t *times)
{
    for (int s = 0; s < SAMPLE_COUNT; s++) {
        const json_t *value = json_object_get(times, sample_series_name((SampleSeries)s));
        if (!value) continue;
        const double seconds = json_number_value(value);
        if (!json_is_number(value) || !(seconds >= 0 && seconds <= longest) ||
            sample_list_add(&c->series[s], seconds) != ST_OK) {
            snprintf(c->garbled, sizeof c->garbled, "a sample that is no time");
        }
    }
}

static void take_stage(CellRecord *c, const json_t *message)
{
    snprintf(c->stage, sizeof c->stage, "%s", json_string_value(json_object_get(message, "stage")));
    c->done = json_integer_value(json_object_get(message, "done"));
    c->of = json_integer_value(json_object_get(message, "of"));
    if (c->of > 0) c->steps_begun++;
}

static void take_end(CellRecord *c, const json_t *message)
{
    const char *word = json_string_value(json_object_get(message, "end"));
    for (int s = 0; s < RECORD_STATUS_COUNT; s++) {
        if (strcmp(word, record_status_word((RecordStatus)s)) != 0) continue;
        c->ended =
            record_put_status(c->record, (RecordStatus)s, record_text(message, "message")) == ST_OK;
    }
}

/* Of several rounds the largest figure counts. */
static void keep_larger(const Record *so_far, json_t *facts, const char *name)
{
    if (record_real(so_far, name) > record_real(facts, name))
        json_object_set(facts, name, json_object_get(so_far, name));
}

/* Figures of ranks, which each round takes anew: the mean of all rounds. */
static void average(CellRecord *c, json_t *facts)
{
    static const char *const names[] = {"communication_ms", "exposed_ms",     "alone_ms",
                                        "rank_min_ms",      "rank_median_ms", "rank_max_ms"};
    if (!json_object_get(facts, names[0])) return;
    const double before = c->rank_rounds++;
    for (size_t i = 0; before > 0 && i < sizeof names / sizeof *names; i++) {
        const double sum = before * record_real(c->record, names[i]) + record_real(facts, names[i]);
        if (isfinite(sum)) json_object_set_new(facts, names[i], json_real(sum / (before + 1)));
    }
}

static void take_facts(CellRecord *c, json_t *facts)
{
    average(c, facts);
    keep_larger(c->record, facts, "others_percent");
    keep_larger(c->record, facts, "stolen_percent");
    json_object_update(c->record, facts);
}

/* False when it is none of the messages of cell_link.h. */
static bool take_object(CellRecord *c, json_t *message)
{
    json_t *value = json_object_get(message, "sample");
    if (json_is_object(value)) {
        take_sample(c, value);
    } else if (json_is_object(value = json_object_get(message, "facts"))) {
        take_facts(c, value);
    } else if (json_is_string(json_object_get(message, "stage"))) {
        take_stage(c, message);
    } else if (json_is_string(value = json_object_get(message, "warning"))) {
        record_warn(c->record, "%s", json_string_value(value));
    } else if (json_is_string(json_object_get(message, "end"))) {
        take_end(c, message);
    } else {
        return false;
    }
    return true;
}

void cell_record_take(CellRecord *c, const char *line, size_t length)
{
    CLEANUP(json_text_free) json_t *message = json_loadb(line, length, 0, NULL);
    if (!message || !take_object(c, message))
        snprintf(c->garbled, sizeof c->garbled, "%s", human_quote(line).s);
}

/* ---- status ---- */

static Status settle_status(CellRecord *c, const ChildResult *end)
{
    const RecordStatus status = cell_link_status_of(end);
    const char *more = status != RECORD_TIMEOUT ? ""
                       : c->config->budgeted    ? ", the rest of the budget"
                                                : ": --timeout gives it longer";
    char text[CHILD_MESSAGE_TEXT + 32];
    snprintf(text, sizeof text, "%s%s", end->text, more);
    if (status != RECORD_OK) return record_put_status(c->record, status, text);
    snprintf(text, sizeof text, "cannot read its messages: %s", c->garbled);
    if (c->garbled[0]) return record_put_status(c->record, RECORD_FAILED, text);
    return c->ended ? ST_OK : record_put_status(c->record, RECORD_FAILED, "ended without a result");
}

static Status settle_device_clock(CellRecord *c)
{
    for (int s = SAMPLE_WALL_COUNT; s < SAMPLE_COUNT; s++) {
        const SampleList *list = &c->series[s];
        if (list->n == 0) continue;
        json_t *phase =
            record_value(c->record, sample_series_name((SampleSeries)(s - SAMPLE_WALL_COUNT)));
        const StatsSummary summary = stats_summary(list->seconds, list->n);
        TRY(record_put_number(phase, "gpu_mean_ms", 1e3 * summary.mean));
        TRY(record_put_number(phase, "gpu_std_ms", 1e3 * summary.std));
    }
    return ST_OK;
}

/* Every phase that fits was measured. */
static bool is_whole(const CellRecord *c)
{
    const RecordStatus status = record_status(c->record);
    return status == RECORD_OK || status == RECORD_OOM;
}

/* Samples of a cell that did not finish are kept; the status of the phase says that they are not all. */
static Status settle_phases(CellRecord *c)
{
    const RecordStatus status = record_status(c->record);
    for (int s = 0; s < SAMPLE_WALL_COUNT; s++) {
        const char *name = sample_series_name((SampleSeries)s);
        const SampleList *list = &c->series[s];
        if (list->n == 0) continue;
        TRY(record_put_samples(c->record, name, list->seconds, list->n));
        if (is_whole(c)) continue;
        json_t *phase = record_value(c->record, name);
        TRY(record_put_text(phase, "status", record_status_word(status)));
    }
    TRY(settle_device_clock(c));
    if (c->series[SAMPLE_STEP].n > 0)
        TRY(record_put_int(c->record, "samples", c->series[SAMPLE_STEP].n));
    const bool untimed = record_text(c->record, "emulated") || record_value(c->record, "curve");
    if (status == RECORD_OK && c->series[SAMPLE_STEP].n == 0 && !untimed) {
        return record_put_status(c->record, RECORD_FAILED, "ended without a sample");
    }
    return ST_OK;
}

/* ---- what follows from the samples ---- */

/* --sample-time ended the samples early: a longer one gives more of them. */
static bool ended_early(const CellRecord *c)
{
    return config_sample_seconds(c->config) > 0 && c->series[SAMPLE_STEP].n < c->config->steps;
}

static Status warn_of_slow_first(CellRecord *c, double first, double median)
{
    char advice[64] = "a longer --sample-time";
    if (!ended_early(c)) {
        snprintf(advice, sizeof advice, "--warmup %lld", (long long)c->config->warmup + 5);
    }
    return record_warn(c->record,
                       "the first sample took %s, the median is %s: more warm-up is needed, try %s",
                       human_seconds(first).s, human_seconds(median).s, advice);
}

/* Uncertainty of the figure that is shown, as a share of it: the interval of a median, the range
 * where there are too few samples for one, the standard deviation beside a mean. */
static double uncertainty(const CellRecord *c, const StatsSummary *s)
{
    const double interval = sample_list_interval(&c->series[SAMPLE_STEP], STAT_MEDIAN);
    if (c->config->stat == STAT_MEAN) return s->std / s->mean;
    return isnan(interval) ? (s->max - s->min) / s->median : interval;
}

static Status warn_of_noise(CellRecord *c)
{
    const SampleList *list = &c->series[SAMPLE_STEP];
    if (list->n < 3 || c->config->from_first) return ST_OK;
    if (c->config->stat == STAT_MIN) return ST_OK; /* slower samples do not touch it */
    const StatsSummary s = stats_summary(list->seconds, list->n);
    const double spread = uncertainty(c, &s);
    const bool first_is_slow = list->n >= FEWEST_TO_JUDGE &&
                               stats_first_is_slow(list->seconds, list->n) &&
                               list->seconds[0] > (1 + noisy) * s.median;
    if (first_is_slow) return warn_of_slow_first(c, list->seconds[0], s.median);
    if (!(spread > noisy)) return ST_OK;
    return record_warn(c->record, "the %s of the step is uncertain by %.0f %%: take %s",
                       config_stats[c->config->stat], 100 * spread,
                       ended_early(c) ? "a longer --sample-time" : "more --steps");
}

/* Of our cells and of a peer's; of the round with the most. */
static Status warn_of_interference(CellRecord *c, bool *disturbed)
{
    const double others = record_real(c->record, "others_percent");
    const double stolen = record_real(c->record, "stolen_percent");
    *disturbed = stolen >= INTERFERENCE_MUCH_STOLEN || others >= INTERFERENCE_MUCH_OTHERS;
    if (stolen >= INTERFERENCE_MUCH_STOLEN) {
        TRY(record_warn(
            c->record,
            "%.1f %% of the CPU time went to other virtual machines during the samples: run "
            "again when the host is quieter",
            stolen));
    }
    if (!(others >= INTERFERENCE_MUCH_OTHERS)) return ST_OK;
    return record_warn(
        c->record,
        "%.0f %% of the CPU time went to other programs during the samples: stop them and run "
        "again",
        others);
}

/* A step faster than the limits: the machine was slower when they were measured. */
static Status warn_of_low_limits(CellRecord *c)
{
    static const double beyond_doubt = 1.05;
    const double mfu = record_real(c->record, "mfu");
    const double percent = record_real(c->record, "percent_of_limit");
    if (!(mfu > beyond_doubt && percent > 100 * beyond_doubt)) return ST_OK;
    return record_warn(
        c->record,
        "%.0f %% of the measured limit: this machine was slower when its limits were "
        "measured; run 'roofstep limits --refresh' on a quiet machine",
        percent);
}

/* With --until: whether the interval or the time ended it. */
static Status put_ended_by(CellRecord *c)
{
    const SampleList *list = &c->series[SAMPLE_STEP];
    const double asked = c->config->until;
    if (!(asked > 0) || c->peer || list->n < 2) return ST_OK;
    const double reached = sample_list_interval(list, c->config->stat);
    const bool tight = reached <= asked; /* NAN: too few samples for an interval */
    TRY(record_put_number(c->record, "until_percent", 100 * asked));
    TRY(record_put_number(c->record, "interval_percent", 100 * reached));
    TRY(record_put_text(c->record, "ended_by", tight ? "interval" : "time"));
    if (tight) return ST_OK;
    if (isnan(reached)) {
        return record_warn(c->record,
                           "%s gave %d samples, and the 95 %% interval of a median needs %d: use a "
                           "longer --sample-time",
                           human_seconds(config_sample_seconds(c->config)).s, list->n,
                           STATS_MEDIAN_LEAST);
    }
    return record_warn(
        c->record,
        "after %s the 95 %% interval of the %s is +-%.2g %%, not the %.2g %% asked for: "
        "use a longer --sample-time, or a quieter machine",
        human_seconds(config_sample_seconds(c->config)).s, config_stats[c->config->stat],
        100 * reached, 100 * asked);
}

/* Facts of the wrong kind would make a whole result file unreadable. */
static Status replace_if_invalid(CellRecord *c)
{
    if (record_check(c->record) == ST_OK) return ST_OK;
    char text[512];
    snprintf(text, sizeof text, "its record is not valid: %s", status_message());
    json_decref(c->record);
    c->record = NULL;
    TRY(new_record(c));
    return record_put_status(c->record, RECORD_FAILED, text);
}

Status cell_record_finish(CellRecord *c, const ChildResult *end)
{
    bool disturbed = false;
    TRY(settle_status(c, end));
    TRY(settle_phases(c));
    if (is_whole(c)) TRY(record_stat_put_rates(c->record));
    TRY(warn_of_interference(c, &disturbed));
    TRY(warn_of_low_limits(c));
    TRY(put_ended_by(c));
    if (!disturbed) TRY(warn_of_noise(c)); /* or it had a warning of its own */
    TRY(replace_if_invalid(c));
    return record_put_text(c->record, "time_utc", clock_utc().s);
}
