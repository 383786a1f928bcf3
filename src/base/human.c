#include "base/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

HumanText human_number(double x, int significant)
{
    HumanText out;
    if (isnan(x)) return (HumanText){"-"};
    if (isinf(x)) return (HumanText){"inf"};
    if (x == 0) return (HumanText){"0"};
    /* The exponent after rounding: 9.9996 has the one of 10. */
    snprintf(out.s, sizeof out.s, "%.*e", significant - 1, x);
    const int exponent = (int)strtol(strchr(out.s, 'e') + 1, NULL, 10);
    if (exponent < -12 || exponent > 15) return out;
    const int decimals = significant - 1 - exponent;
    snprintf(out.s, sizeof out.s, "%.*f", decimals > 0 ? decimals : 0, x);
    return out;
}

HumanText human_mean_count(double x)
{
    HumanText out;
    const double whole = round(x);
    /* A sum of quotients need not be whole to the last bit. */
    if (!(fabs(x - whole) < 1e-6) || fabs(whole) > 1e15) return human_number(x, 4);
    snprintf(out.s, sizeof out.s, "%.0f", whole);
    return out;
}

HumanText human_ms(double ns)
{
    return human_number(ns * 1e-6, 4);
}

HumanText human_us(double ns)
{
    return human_number(ns * 1e-3, 4);
}

HumanText human_percent(double part, double whole)
{
    HumanText out = {"-"};
    if (fabs(whole) > 0 && !isnan(part)) snprintf(out.s, sizeof out.s, "%.1f", 100 * part / whole);
    return out;
}

/* The largest unit that leaves at least 1, with `step` from one unit to the next. */
static HumanText scaled(double x, double step, const char *const *units, int n)
{
    int i = 0;
    /* What would round up to a whole unit is written in it. */
    while (i < n - 1 && fabs(x) >= step * 0.9995) {
        x /= step;
        i++;
    }
    HumanText out;
    const HumanText number = human_number(x, 3);
    snprintf(out.s, sizeof out.s, "%.20s %s", number.s, units[i]);
    return out;
}

HumanText human_bytes(double bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (isnan(bytes)) return (HumanText){"-"};
    if (fabs(bytes) >= 1023.5) return scaled(bytes / 1024, 1024, units, 6);
    HumanText out;
    snprintf(out.s, sizeof out.s, "%.0f B", bytes);
    return out;
}

/* In hundredths of the unit; of bytes in whole ones. */
static HumanText in_unit(uint64_t hundredths, int unit)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    HumanText out;
    if (unit == 0)
        snprintf(out.s, sizeof out.s, "%" PRIu64 " B", hundredths / 100);
    else
        snprintf(out.s, sizeof out.s, "%" PRIu64 ".%02d %s", hundredths / 100,
                 (int)(hundredths % 100), units[unit]);
    return out;
}

static uint64_t to_hundredths(uint64_t bytes, int unit, bool up)
{
    const uint64_t size = UINT64_C(1) << (10 * unit), rest = bytes % size * 100;
    return bytes / size * 100 + (rest + (up ? size - 1 : 0)) / size;
}

/* The largest unit in which what is lacking has two digits and what is there, 8 GiB of a GPU, is no
 * fraction. */
static int shortage_unit(uint64_t need, uint64_t there, uint64_t lack)
{
    int unit = 0;
    for (; unit < 5; unit++) {
        const uint64_t next = UINT64_C(1) << (10 * (unit + 1));
        if (need < next || lack < next / 10 || (there > 0 && there < next)) break;
    }
    return unit;
}

/* What is needed is rounded up and what is there down: whoever frees what is lacking, as written, has
 * enough. Beside a millionth of the need no unit serves all three. */
HumanShortage human_shortage(uint64_t need, uint64_t there)
{
    const uint64_t lack = need > there ? need - there : 0;
    const int unit = shortage_unit(need, there, lack);
    if (there > 0 && need / there >= UINT64_C(1) << 20)
        return (HumanShortage){human_bytes((double)need), human_bytes((double)there),
                               human_bytes((double)lack)};
    const uint64_t a = to_hundredths(need, unit, true), b = to_hundredths(there, unit, false);
    return (HumanShortage){in_unit(a, unit), in_unit(b, unit), in_unit(lack ? a - b : 0, unit)};
}

HumanText human_seconds(double seconds)
{
    static const struct {
        double size;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    if (isnan(seconds)) return (HumanText){"-"};
    int i = 0;
    while (i < 3 && fabs(seconds) < units[i].size * 0.99995) i++;
    if (seconds == 0) i = 0;
    HumanText out;
    const HumanText number = human_number(seconds / units[i].size, 4);
    snprintf(out.s, sizeof out.s, "%.20s %s", number.s, units[i].name);
    return out;
}

HumanText human_eta(double seconds)
{
    HumanText out;
    if (isnan(seconds) || seconds < 0 || seconds > 1e9) return (HumanText){"-"};
    const long s = lround(seconds);
    if (s < 60)
        snprintf(out.s, sizeof out.s, "%lds", s);
    else if (s < 3600)
        snprintf(out.s, sizeof out.s, "%ldm %02lds", s / 60, s % 60);
    else
        snprintf(out.s, sizeof out.s, "%ldh %02ldm", s / 3600, s % 3600 / 60);
    return out;
}

HumanText human_count(int64_t n)
{
    char digits[24];
    const uint64_t size = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, size);
    HumanText out;
    char *to = out.s;
    if (n < 0) *to++ = '-';
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out;
}

HumanText human_whole(double n)
{
    return fabs(n) < 0x1p63 ? human_count((int64_t)n) : (HumanText){"-"};
}

static const char *const si_units[] = {"", "K", "M", "G", "T", "P", "E"};

HumanText human_si(double x)
{
    if (isnan(x)) return (HumanText){"-"};
    HumanText out = scaled(x, 1000, si_units, 7);
    const size_t n = strlen(out.s);
    if (out.s[n - 1] == ' ') out.s[n - 1] = 0;
    return out;
}

enum { MOST_QUOTED = 64 };

static void hide_controls(HumanQuote *quote)
{
    for (char *c = quote->s; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    }
}

/* Is it a byte within a UTF-8 sequence, but not its first? */
static bool continues(char c)
{
    return ((unsigned char)c & 0xc0U) == 0x80U;
}

static HumanQuote cut(const char *s, const char *quote)
{
    HumanQuote out;
    int n = (int)strnlen(s, MOST_QUOTED + 1);
    const bool long_one = n > MOST_QUOTED;
    if (long_one) n = MOST_QUOTED;
    while (long_one && n > 0 && continues(s[n])) n--;
    snprintf(out.s, sizeof out.s, "%s%.*s%s%s", quote, n, s, long_one ? "..." : "", quote);
    hide_controls(&out);
    return out;
}

HumanQuote human_path(const char *s)
{
    HumanQuote out;
    const size_t n = strlen(s);
    if (n <= MOST_QUOTED) return human_quote(s);
    s += n - MOST_QUOTED;
    while (continues(*s)) s++;
    snprintf(out.s, sizeof out.s, "'...%s'", s);
    hide_controls(&out);
    return out;
}

HumanQuote human_quote(const char *s)
{
    return cut(s, "'");
}

HumanQuote human_plain(const char *s)
{
    return cut(s, "");
}
