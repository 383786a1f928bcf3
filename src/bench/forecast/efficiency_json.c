#include "bench/forecast/efficiency_json.h"

#include "base/gzip_file.h"
#include "base/human.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "config/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SCHEMA = 1 };

static const char any[] = "any";

/* ---- written ---- */

static json_t *encode_line(const EfficiencyLine *line)
{
    const bool multiplies = line->precision != PRECISION_COUNT;
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:i, s:f}", "op", plan_op_name(line->op),
                     "precision", multiplies ? config_precisions[line->precision] : any, "impl",
                     *line->impl ? line->impl : any, "start_us", 1e6 * line->start, "flops",
                     line->flops, "score", line->score, "bytes", line->bytes, "rows", line->rows,
                     "error", line->error);
}

static json_t *encode_reached(const Efficiency *e)
{
    json_t *reached = json_object();
    for (int p = 0; reached && p < PRECISION_COUNT; p++) {
        if (e->reached[p] > 0)
            json_object_set_new(reached, config_precisions[p], json_real(e->reached[p]));
    }
    if (e->reached_memory > 0) json_object_set_new(reached, "memory", json_real(e->reached_memory));
    return reached;
}

static json_t *encode_host(const EfficiencyHost *host)
{
    json_t *steps = json_array();
    for (int i = 0; i < host->n_sources; i++)
        json_array_append_new(steps, json_text_string(host->sources[i]));
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:o, s:o}", "program",
                     efficiency_program_names[host->program], "exec", config_execs[host->exec],
                     "forward_us", 1e6 * host->seconds[PHASE_FORWARD], "backward_us",
                     1e6 * host->seconds[PHASE_BACKWARD], "optimizer_us",
                     1e6 * host->seconds[PHASE_OPTIMIZER], "step_error",
                     json_text_real(host->error), "steps", steps);
}

Status efficiency_json_write(Text *out, const Efficiency *e)
{
    json_t *lines = json_array(), *sources = json_array(), *hosts = json_array();
    const LimitsKey *key = &e->measured_on;
    for (int i = 0; i < e->n_lines; i++) json_array_append_new(lines, encode_line(&e->lines[i]));
    for (int i = 0; i < e->n_sources; i++)
        json_array_append_new(sources, json_text_string(e->sources[i]));
    for (int i = 0; i < e->n_hosts; i++) json_array_append_new(hosts, encode_host(&e->hosts[i]));
    CLEANUP(json_text_free)
    json_t *json = json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:o, s:o, s:f, s:o, s:o, s:o}", "kind", "efficiency", "schema",
        SCHEMA, "device", *key->gpu ? "gpu" : "cpu", "measured_on", *key->gpu ? key->gpu : key->cpu,
        "blas", key->blas, "steps", sources, "reached_of_data_sheet", encode_reached(e), "gap_us",
        1e6 * e->gap, "step_error", json_text_real(e->error), "hosts", hosts, "lines", lines);
    if (!json) return NO_MEMORY("for efficiencies as JSON");
    json_text_put(out, json, JSON_INDENT(1) | JSON_REAL_PRECISION(5));
    text_puts(out, "\n");
    return text_status(out);
}

/* ---- read ---- */

static int find_word(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0) return i;
    }
    return -1;
}

/* Times that are forecast with these must be times. */
static bool sensible(const EfficiencyLine *l)
{
    const double numbers[] = {l->start, l->flops, l->score, l->bytes, l->error};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!isfinite(numbers[i]) || numbers[i] < 0) return false;
    }
    return l->start < 1 && l->flops < 1e6 && l->score < 1e6 && l->bytes < 1e6 && l->rows > 0;
}

static Status decode_line(EfficiencyLine *line, json_t *from, int number)
{
    const char *op, *precision, *impl;
    json_error_t error;
    *line = (EfficiencyLine){.precision = PRECISION_COUNT};
    if (json_unpack_ex(from, &error, 0, "{s:s, s:s, s:s, s:F, s:F, s:F, s:F, s:i, s:F}", "op", &op,
                       "precision", &precision, "impl", &impl, "start_us", &line->start, "flops",
                       &line->flops, "score", &line->score, "bytes", &line->bytes, "rows",
                       &line->rows, "error", &line->error) != 0)
        return FAIL(ST_USAGE, "line %d: %s", number, human_plain(error.text).s);
    line->start *= 1e-6;
    line->op = plan_op_find(op);
    if (line->op == OP_COUNT)
        return FAIL(ST_USAGE, "line %d: there is no op %s", number, human_quote(op).s);
    if (strcmp(precision, any) != 0) {
        const int p = find_word(config_precisions, precision);
        if (p < 0)
            return FAIL(ST_USAGE, "line %d: there is no precision %s", number,
                        human_quote(precision).s);
        line->precision = (Precision)p;
    }
    snprintf(line->impl, sizeof line->impl, "%s", strcmp(impl, any) == 0 ? "" : impl);
    if (sensible(line)) return ST_OK;
    return FAIL(ST_USAGE, "line %d: its numbers give no time", number);
}

static Status decode_lines(Efficiency *e, const json_t *lines)
{
    const size_t n = json_array_size(lines);
    if (n == 0 || n > EFFICIENCY_LINES)
        return FAIL(ST_USAGE, "'lines' must be a list of 1 to %d", EFFICIENCY_LINES);
    for (size_t i = 0; i < n; i++)
        TRY(decode_line(&e->lines[e->n_lines++], json_array_get(lines, i), (int)i + 1));
    return ST_OK;
}

static void decode_steps(char (*names)[96], int *n, const json_t *steps)
{
    for (size_t i = 0; i < json_array_size(steps) && i < EFFICIENCY_SOURCES; i++) {
        const char *step = json_string_value(json_array_get(steps, i));
        snprintf(names[(*n)++], sizeof names[0], "%s", step ? step : "?");
    }
}

static Status decode_host(EfficiencyHost *host, json_t *from, int number)
{
    const char *program, *exec;
    json_t *error_of, *steps;
    json_error_t error;
    double *s = host->seconds;
    if (json_unpack_ex(from, &error, 0, "{s:s, s:s, s:F, s:F, s:F, s:o, s:o}", "program", &program,
                       "exec", &exec, "forward_us", &s[PHASE_FORWARD], "backward_us",
                       &s[PHASE_BACKWARD], "optimizer_us", &s[PHASE_OPTIMIZER], "step_error",
                       &error_of, "steps", &steps) != 0)
        return FAIL(ST_USAGE, "host %d: %s", number, human_plain(error.text).s);
    const int p = find_word(efficiency_program_names, program), x = find_word(config_execs, exec);
    if (p < 0 || x < 0)
        return FAIL(ST_USAGE, "host %d: there is no %s", number,
                    human_quote(p < 0 ? program : exec).s);
    host->program = (EfficiencyProgram)p;
    host->exec = (Exec)x;
    host->error = json_is_number(error_of) ? json_number_value(error_of) : NAN;
    decode_steps(host->sources, &host->n_sources, steps);
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
        s[phase] *= 1e-6;
        if (!(s[phase] >= 0 && s[phase] < 1) || host->error < 0)
            return FAIL(ST_USAGE, "host %d: its numbers give no time", number);
    }
    return ST_OK;
}

/* Files from before there were hosts have none. */
static Status decode_hosts(Efficiency *e, const json_t *hosts)
{
    const size_t n = json_array_size(hosts);
    if (n > EFFICIENCY_HOSTS) return FAIL(ST_USAGE, "'hosts': at most %d", EFFICIENCY_HOSTS);
    for (size_t i = 0; i < n; i++)
        TRY(decode_host(&e->hosts[e->n_hosts++], json_array_get(hosts, i), (int)i + 1));
    return ST_OK;
}

/* A share of what the data sheet promises. */
static double share(const json_t *reached, const char *name)
{
    const double x = json_number_value(json_object_get(reached, name));
    return x > 0 && x <= 2 ? x : 0;
}

static void decode_reached(Efficiency *e, const json_t *reached)
{
    for (int p = 0; p < PRECISION_COUNT; p++) e->reached[p] = share(reached, config_precisions[p]);
    e->reached_memory = share(reached, "memory");
}

static Status decode(Efficiency *e, json_t *json)
{
    const char *kind, *device, *measured_on, *blas;
    int schema;
    json_t *lines, *sources, *reached, *step_error;
    json_error_t error;
    if (json_unpack_ex(json, &error, 0, "{s:s, s:i, s:s, s:s, s:s, s:o, s:o, s:F, s:o, s:o}",
                       "kind", &kind, "schema", &schema, "device", &device, "measured_on",
                       &measured_on, "blas", &blas, "steps", &sources, "reached_of_data_sheet",
                       &reached, "gap_us", &e->gap, "step_error", &step_error, "lines",
                       &lines) != 0 ||
        strcmp(kind, "efficiency") != 0)
        return FAIL(ST_USAGE, "it is no file of roofstep forecast --fit");
    if (schema != SCHEMA) return FAIL(ST_USAGE, "schema %d, expected %d", schema, SCHEMA);
    LimitsKey *key = &e->measured_on;
    const bool gpu = strcmp(device, "gpu") == 0;
    snprintf(gpu ? key->gpu : key->cpu, gpu ? sizeof key->gpu : sizeof key->cpu, "%s", measured_on);
    snprintf(key->blas, sizeof key->blas, "%s", blas);
    e->gap *= 1e-6;
    e->error = json_is_number(step_error) ? json_number_value(step_error) : NAN;
    if (!(e->gap >= 0 && e->gap < 1) || e->error < 0)
        return FAIL(ST_USAGE, "gap_us and step_error must not be below 0");
    decode_reached(e, reached);
    decode_steps(e->sources, &e->n_sources, sources);
    TRY(decode_hosts(e, json_object_get(json, "hosts")));
    return decode_lines(e, lines);
}

Status efficiency_json_read(Efficiency *e, const char *text, size_t n, const char *path)
{
    CLEANUP(json_text_free) json_t *json = NULL;
    json_error_t error;
    *e = (Efficiency){0};
    TRY(json_reader_parse(&json, path, text, n, JSON_REJECT_DUPLICATES, &error));
    if (!json)
        return FAIL(ST_USAGE, "%s: it is no file of roofstep forecast --fit", human_path(path).s);
    const Status status = decode(e, json);
    if (status != ST_OK) status_context(human_path(path).s);
    return status;
}

Status efficiency_json_read_file(Efficiency *e, const char *path)
{
    enum { LARGEST = 1 << 20 };
    CLEANUP(text_free) Text text = {0};
    const Status status = text_read_file(&text, path, LARGEST);
    if (status != ST_OK) return status == ST_IO ? ST_USAGE : status; /* nothing was done yet */
    return efficiency_json_read(e, text_str(&text), text.n, path);
}

Status efficiency_json_bundled(Efficiency *e)
{
    CLEANUP(text_free) Text text = {0};
    for (int i = 0; efficiency_bundled[i]; i++) text_puts(&text, efficiency_bundled[i]);
    TRY(text_status(&text));
    return efficiency_json_read(e, text_str(&text), text.n, "the efficiencies of this program");
}
