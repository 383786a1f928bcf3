#include "base/parse.h"

#include "base/human.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Status parse_int(const char *s, int64_t *out)
{
    const char *digits = s + (*s == '-');
    const size_t n = strspn(digits, "0123456789");
    if (n == 0 || digits[n] != 0)
        return FAIL(ST_USAGE, "%s is not a whole number", human_quote(s).s);
    errno = 0;
    const long long value = strtoll(s, NULL, 10);
    if (errno == ERANGE) return FAIL(ST_USAGE, "%s does not fit in 64 bits", human_quote(s).s);
    *out = value;
    return ST_OK;
}

/* The decimal number that `s` starts with (not hexadecimal, inf or nan); NULL when there is none. */
static const char *leading_real(const char *s, double *out)
{
    const char *digits = s + (*s == '-');
    if (!isdigit((unsigned char)digits[0]) &&
        !(digits[0] == '.' && isdigit((unsigned char)digits[1])))
        return NULL;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) return NULL;
    char *end;
    *out = strtod(s, &end);
    return end;
}

Status parse_real(const char *s, double *out)
{
    double value = 0;
    const char *end = leading_real(s, &value);
    if (!end || *end != 0) return FAIL(ST_USAGE, "%s is not a number", human_quote(s).s);
    if (!isfinite(value)) return FAIL(ST_USAGE, "%s is too large", human_quote(s).s);
    *out = value;
    return ST_OK;
}

typedef struct Unit {
    const char *name;
    double size;
} Unit;

#define UNITS(array) array, (int)(sizeof(array) / sizeof *(array))

/* A number that is not negative, and a unit: *out becomes their product. `what` is a name with an example. */
static Status with_unit(const char *s, const Unit *units, int n, const char *what, double *out)
{
    double value = 0;
    const char *rest = *s == '-' ? NULL : leading_real(s, &value);
    int i = 0;
    while (rest && i < n && strcmp(rest, units[i].name) != 0) i++;
    if (!rest || i == n) return FAIL(ST_USAGE, "%s is not %s", human_quote(s).s, what);
    value *= units[i].size;
    if (!isfinite(value)) return FAIL(ST_USAGE, "%s is too large", human_quote(s).s);
    *out = value;
    return ST_OK;
}

Status parse_bytes(const char *s, int64_t *out)
{
    static const Unit units[] = {
        {"", 1},         {"B", 1},        {"K", 0x1p10},   {"M", 0x1p20},
        {"G", 0x1p30},   {"T", 0x1p40},   {"KB", 1e3},     {"MB", 1e6},
        {"GB", 1e9},     {"TB", 1e12},    {"kB", 1e3},     {"k", 0x1p10},
        {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
    };
    double value = 0;
    TRY(with_unit(s, UNITS(units), "a size such as 8GiB or 500MB", &value));
    if (!(value < 0x1p63)) return FAIL(ST_USAGE, "%s does not fit in 64 bits", human_quote(s).s);
    *out = (int64_t)value;
    return ST_OK;
}

Status parse_percent(const char *s, double *out)
{
    static const Unit units[] = {{"%", 0.01}};
    return with_unit(s, UNITS(units), "a percentage such as 1%", out);
}

Status parse_seconds(const char *s, double *out)
{
    static const Unit units[] = {{"", 1},      {"s", 1},  {"ms", 1e-3}, {"us", 1e-6},
                                 {"ns", 1e-9}, {"m", 60}, {"h", 3600}};
    return with_unit(s, UNITS(units), "a time such as 90s, 10m or 600", out);
}

Status parse_rate(const char *s, double *out)
{
    static const Unit units[] = {
        {"B/s", 1},     {"kB/s", 1e3},     {"KB/s", 1e3},     {"MB/s", 1e6},     {"GB/s", 1e9},
        {"TB/s", 1e12}, {"KiB/s", 0x1p10}, {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30}, {"TiB/s", 0x1p40},
    };
    return with_unit(s, UNITS(units), "a bandwidth such as 50GB/s or 800MiB/s", out);
}
