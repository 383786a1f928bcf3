#include "bench/cell/progress.h"

#include "base/clock.h"
#include "base/escape.h"
#include "base/human.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/terminal.h"
#include "base/text.h"
#include "bench/record/record_stat.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 20, RECENT = 101, DEFAULT_COLUMNS = 80 };
static const double redraw_after = 0.1, tell_after = 10; /* seconds */

void progress_begin(Progress *p, int n, double total)
{
    const int columns = terminal_columns(STDERR_FILENO);
    *p = (Progress){.out = stderr,
                    .live = log_colour() && log_mode() != LOG_QUIET,
                    .quiet = log_mode() == LOG_QUIET,
                    .told_at = clock_seconds(),
                    .columns = columns ? columns : DEFAULT_COLUMNS,
                    .n = n,
                    .total = total};
}

void progress_cell(Progress *p, int index, const char *label, const Config *config, double weight)
{
    p->index = index;
    p->weight = weight;
    p->started = clock_seconds();
    p->steps = (config->warmup > 1 ? config->warmup : 1) + config->steps;
    p->first = p->last = 0;
    p->timed = config_sample_seconds(config) > 0;
    p->drawn_at = 0;
    snprintf(p->label, sizeof p->label, "%s", label);
}

void progress_trust_weights(Progress *p)
{
    p->trust = 0.1 * p->total;
}

/* Seconds that a unit of weight takes; NAN: nothing is known yet. */
static double pace(double trust, double done, double seconds)
{
    return trust + done > 0 && trust + seconds > 0 ? (trust + seconds) / (trust + done) : NAN;
}

/* Of the current cell: by its steps, without its start and its first one; before there are two, and
 * where samples end by the clock, after any number of steps, by what is expected, of which a last
 * bit is left until it ends. */
static double left_of_cell(const Progress *p, double fraction, double now, double before)
{
    const double expected = before * p->weight;
    const double since = p->first > 0 ? p->first_at : p->started;
    if (!(p->weight > 0)) return 0;
    if (p->timed || !(fraction > p->first))
        return fmax(expected - (now - p->started), 0.05 * expected);
    const double then = fraction > p->last ? now : p->last_at; /* when a step was over */
    return fmax(0, (then - since) / (fraction - p->first) * (1 - fraction) - (now - then));
}

double progress_eta(const Progress *p, double fraction, double now)
{
    const double before = pace(p->trust, p->finished, p->finished_for);
    const double here = left_of_cell(p, fraction, now, before);
    const double cell = p->weight > 0 ? now - p->started + here : 0;
    const double after = pace(p->trust, p->finished + p->weight, p->finished_for + cell);
    const double eta = here + after * fmax(0, p->total - p->finished - p->weight);
    return isnan(eta) ? NAN : fmax(0, eta);
}

static void print_line(const Progress *p, const char *text)
{
    CLEANUP(text_free) Text shown = {0};
    escape_put(&shown, ESCAPE_LINE, text);
    fprintf(p->out, "%s\n", text_str(&shown));
    fflush(p->out);
}

/* ---- the moving line ---- */

static void erase(Progress *p)
{
    if (p->drawn) fputs("\r\033[K", p->out);
    p->drawn = false;
}

static void draw_bar(Text *line, double share)
{
    const int full = (int)(fmin(fmax(share, 0), 1) * BAR);
    text_puts(line, "\033[32m");
    text_fill(line, '#', (size_t)full);
    text_puts(line, "\033[90m");
    text_fill(line, '#', (size_t)(BAR - full));
    text_puts(line, "\033[0m");
}

/* What is going on, as much of it as the terminal has room for beside the bar. */
static void describe(const Progress *p, const CellRecord *cell, double eta, Text *words)
{
    text_printf(words, " %d/%d", p->index, p->n);
    if (!isnan(eta)) text_printf(words, " ETA %s", human_eta(eta).s);
    text_printf(words, " %s", p->label);
    if (cell && cell->of > 0) {
        text_printf(words, " | %s %lld/%lld", cell->stage, (long long)cell->done,
                    (long long)cell->of);
    } else if (cell && cell->stage[0]) {
        text_printf(words, " | %s", cell->stage);
    }
    if (cell && cell->series[SAMPLE_STEP].n > 0) {
        const SampleList *list = &cell->series[SAMPLE_STEP];
        const int n = list->n < RECENT ? list->n : RECENT;
        const double median = stats_median(list->seconds + list->n - n, n);
        text_printf(words, " | %s a step", human_seconds(median).s);
    }
}

/* As many characters as there is room for. */
static void put_words(Text *line, const char *words, int room)
{
    CLEANUP(text_free) Text shown = {0};
    escape_put(&shown, ESCAPE_LINE, words);
    const char *end = text_str(&shown);
    for (uint32_t code; *end && room > 0; room--) end += escape_decode(end, &code);
    text_append(line, text_str(&shown), (size_t)(end - text_str(&shown)));
}

static double fraction_of(const Progress *p, const CellRecord *cell)
{
    if (!cell || p->steps <= 0 || cell->steps_begun < 1) return 0;
    return fmin(1, (double)(cell->steps_begun - 1) / (double)p->steps);
}

static void note_steps(Progress *p, double fraction, double now)
{
    if (fraction <= p->last) return;
    if (p->first <= 0) {
        p->first = fraction;
        p->first_at = now;
    }
    p->last = fraction;
    p->last_at = now;
}

/* Where no line can move, a cell that takes long has one now and then. */
static void tell(Progress *p, const CellRecord *cell, double fraction, double now)
{
    CLEANUP(text_free) Text words = {0};
    if (log_mode() != LOG_ALL || now - fmax(p->told_at, p->started) < tell_after) return;
    p->told_at = now;
    describe(p, cell, progress_eta(p, fraction, now), &words);
    print_line(p, text_str(&words) + strspn(text_str(&words), " "));
}

void progress_draw(Progress *p, const CellRecord *cell, double now)
{
    if (now - p->drawn_at < redraw_after) return;
    p->drawn_at = now;
    const double fraction = fraction_of(p, cell);
    note_steps(p, fraction, now);
    if (!p->live) {
        tell(p, cell, fraction, now);
        return;
    }
    CLEANUP(text_free) Text line = {0}, words = {0};
    draw_bar(&line, p->total > 0 ? (p->finished + p->weight * fraction) / p->total : 0);
    describe(p, cell, progress_eta(p, fraction, now), &words);
    put_words(&line, text_str(&words), p->columns - BAR - 1);
    fprintf(p->out, "\r%s\033[K", text_str(&line));
    fflush(p->out);
    p->drawn = true;
}

/* ---- lines that stay ---- */

void progress_line(Progress *p, const char *text)
{
    erase(p);
    print_line(p, text);
    p->drawn_at = 0;
}

static void add_phase(Text *line, const Record *record, const char *name, const char *before)
{
    double ms;
    if (record_stat_ms(record, name, &ms))
        text_printf(line, "%s%s %s", before, name, human_seconds(ms * 1e-3).s);
}

void progress_done(Progress *p, double now, bool early)
{
    if (early) {
        p->total -= p->weight;
    } else {
        p->finished += p->weight;
        p->finished_for += now - p->started;
    }
    p->weight = 0;
    p->started = now;
}

void progress_finished(Progress *p, int index, const char *label, const Record *record,
                       const char *remark)
{
    CLEANUP(text_free) Text line = {0};
    const RecordStatus status = record_status(record);
    const char *message = record_text(record, "message");
    erase(p);
    if (p->quiet && status == RECORD_OK) return;
    text_printf(&line, "[%d/%d] %s: %s", index, p->n, label, record_status_word(status));
    if (status != RECORD_OK && message) text_printf(&line, ": %s", message);
    if (status == RECORD_OK && record_text(record, "emulated")) text_puts(&line, " (emulated)");
    add_phase(&line, record, "step", "; ");
    add_phase(&line, record, "forward", ": "); /* no sum: medians do not add up */
    add_phase(&line, record, "backward", ", ");
    add_phase(&line, record, "optimizer", ", ");
    text_puts(&line, remark);
    print_line(p, text_str(&line));
}

void progress_end(Progress *p)
{
    erase(p);
    fflush(p->out);
}
