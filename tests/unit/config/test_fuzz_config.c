/* Mutated numbers, sweeps and command lines, from a fixed seed and with a fixed budget: whatever comes
 * in is taken, or refused as bad usage with one line. */
#include "base/parse.h"
#include "base/rng.h"
#include "config/sweep.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VALUES = 100000, LINES = 100000, LENGTH = 96 };

static uint64_t stream, drawn;

static int below(int n)
{
    return (int)rng_below(2024, stream, drawn++, n);
}

static const OptionId *random_options(void)
{
    static OptionId list[OPTION_COUNT + 1];
    int n = 0;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (below(2)) list[n++] = (OptionId)id;
    }
    list[n] = OPTION_END;
    return list;
}

static const char *const seeds[] = {
    "128",
    "128,256,512",
    "64-1024*2",
    "128-512+128",
    "1-4",
    "8GiB",
    "1.5MiB",
    "16GB",
    "1%",
    "0.5%",
    "3m",
    "90s",
    "1e-3",
    "-5",
    "dynamic",
    "none,65536",
    "fp32,bf16",
    "tiny,2.7B",
    "cuda:0",
    "auto",
    "fwd_bwd",
    "eager",
    "0",
    "4294967296",
    "9223372036854775807",
    "1e308",
    "0.1,0.01",
    "2147483647",
    "1-4096",
    "md",
    "250ms",
    "1-9223372036854775807*3",
    ",",
};
enum { N_SEEDS = sizeof seeds / sizeof *seeds };

static char any_byte(void)
{
    static const char likely[] = "0123456789,,--++**..eE%GKMTiBsmhx: =\n\t'\"\\~";
    return below(4) ? likely[below((int)sizeof likely - 1)] : (char)(1 + below(255));
}

/* One change: a byte replaced, inserted or removed, a piece doubled, or the rest cut off. */
static void mutate(char *s)
{
    const int n = (int)strlen(s);
    const int at = below(n + 1);
    const int kind = below(5);
    if (kind == 0 && at < n) s[at] = any_byte();
    if (kind == 1 && n < LENGTH - 2) {
        memmove(s + at + 1, s + at, (size_t)(n - at) + 1);
        s[at] = any_byte();
    }
    if (kind == 2 && at < n) memmove(s + at, s + at + 1, (size_t)(n - at));
    if (kind == 3 && 2 * n - at < LENGTH - 1) {
        memmove(s + n + (n - at), s + n, 1);
        memcpy(s + n, s + at, (size_t)(n - at));
    }
    if (kind == 4) s[at] = 0;
}

static void make_value(char *s)
{
    snprintf(s, LENGTH, "%s", seeds[below(N_SEEDS)]);
    for (int changes = below(5); changes > 0; changes--) mutate(s);
}

static void accepted_or_explained(Status status, const char *input)
{
    if (status == ST_OK) return;
    const char *message = status_message();
    if (status != ST_USAGE) fail_msg("status %d for '%s': %s", (int)status, input, message);
    if (!*message || strpbrk(message, "\n\r\t")) fail_msg("'%s' gives '%s'", input, message);
}

/* A status_fail() that was forgotten would show the message of an earlier failure. */
static void forget_message(void)
{
    (void)status_fail(ST_OK, "%s", "");
}

static void numbers(void **state)
{
    (void)state;
    stream = 1;
    for (int i = 0; i < VALUES; i++) {
        char s[LENGTH];
        int64_t n = -1;
        double x = -1;
        make_value(s);
        forget_message();
        Status status = parse_int(s, &n);
        accepted_or_explained(status, s);
        status = parse_bytes(s, &n);
        accepted_or_explained(status, s);
        if (status == ST_OK) assert_true(n >= 0);
        status = parse_real(s, &x);
        accepted_or_explained(status, s);
        if (status == ST_OK) assert_true(isfinite(x));
        status = parse_percent(s, &x);
        accepted_or_explained(status, s);
        if (status == ST_OK) assert_true(isfinite(x) && x >= 0);
        status = parse_seconds(s, &x);
        accepted_or_explained(status, s);
        if (status == ST_OK) assert_true(isfinite(x) && x >= 0);
    }
}

static void axes(void **state)
{
    (void)state;
    stream = 2;
    for (int i = 0; i < VALUES; i++) {
        char s[LENGTH];
        Axis axis = {0};
        const OptionId id = (OptionId)below(OPTION_DRY_RUN);
        make_value(s);
        forget_message();
        const Status status = axis_read(&axis, id, s);
        accepted_or_explained(status, s);
        if (status == ST_OK) assert_true(axis.n > 0 && axis.n <= SWEEP_MAX_VALUES);
        axis_free(&axis);
    }
}

/* "--name value", "--name=value" and odd words. */
static int make_line(char words[][LENGTH], char **argv)
{
    int argc = 0;
    for (int n = below(6); n > 0; n--) {
        const char *name = option_table[below(OPTION_COUNT)].name;
        char value[LENGTH] = "";
        make_value(value);
        argv[argc] = words[argc];
        if (below(20) == 0) {
            memcpy(words[argc++], value, LENGTH);
            continue;
        }
        const bool joined = below(3) == 0;
        snprintf(words[argc], LENGTH, "--%s%s%.60s", name, joined ? "=" : "", joined ? value : "");
        if (below(10) == 0) mutate(words[argc]);
        argc++;
        if (joined || below(10) == 0) continue;
        argv[argc] = words[argc];
        memcpy(words[argc++], value, LENGTH);
    }
    return argc;
}

static void command_lines(void **state)
{
    (void)state;
    stream = 3;
    int taken = 0;
    for (int i = 0; i < LINES; i++) {
        char words[12][LENGTH];
        char *argv[12];
        Settings settings;
        Sweep sweep;
        const OptionSet set = {
            .taken = below(4) ? OPTION_LIST(OPTIONS_ALL) : random_options(),
            .lists = below(2) ? OPTION_LIST(OPTIONS_ALL) : NULL,
            .formats = "md json",
            .args = below(2) ? "FILE..." : NULL,
        };
        const int argc = make_line(words, argv);
        forget_message();
        const Status status = sweep_parse(&set, argc, argv, &settings, &sweep);
        accepted_or_explained(status, argc ? argv[argc - 1] : "");
        assert_true(status == ST_OK || !sweep.configs);
        assert_true(status != ST_OK || settings.help || sweep.n > 0);
        for (int k = 0; k < sweep.n && k < 8; k++)
            assert_int_equal(config_check(&sweep.configs[k]), ST_OK);
        taken += status == ST_OK;
        sweep_free(&sweep);
    }
    /* The fuzzing would show nothing if all were refused at the door. */
    assert_true(taken > LINES / 20 && taken < LINES / 20 * 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(axes),
        cmocka_unit_test(command_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
