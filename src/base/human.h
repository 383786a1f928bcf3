/* Numbers as people read them. The text lives in the returned struct:
 * printf("%s", human_bytes(n).s). */
#pragma once

#include <stdint.h>

typedef struct HumanText {
    char s[40];
} HumanText;

/* Room for a short quotation. */
typedef struct HumanQuote {
    char s[80];
} HumanQuote;

HumanText human_bytes(double bytes); /* 1.25 GiB */
/* What is needed, what is there and what is lacking, in one unit that suits the second and the last; as
 * written, the last is the difference of the first two. */
typedef struct HumanShortage {
    HumanText need, there, lack;
} HumanShortage;
HumanShortage human_shortage(uint64_t need, uint64_t there); /* 7.91 GiB, 7.80 GiB, 0.11 GiB */
HumanText human_seconds(double seconds);                     /* 12.34 ms; - for NaN */
HumanText human_eta(double seconds);                         /* 48s, 3m 20s, 2h 05m */
HumanText human_count(int64_t n);                            /* 128,625,408 */
HumanText
human_whole(double n); /* the same of a whole number; - for what is none that can be counted */
HumanText human_si(double x); /* 1.23 G, for FLOPs and elements */
/* What the user typed, fit for a line of a message: in quotes, cut, without control characters. */
HumanQuote human_quote(const char *s);
HumanQuote human_plain(const char *s); /* the same without the quotes */
HumanQuote
human_path(const char *s); /* of a path that is too long the end is kept: '.../model.json' */
/* As many digits as `significant`, never an exponent: 1234, 12.34, 0.001234; - for NaN. */
HumanText human_number(double x, int significant);
/* How many a step on average: 2, not 2.000, where it is whole; otherwise four digits. */
HumanText human_mean_count(double x);
HumanText human_ms(double ns);                      /* 12.34, without the unit; - for NaN */
HumanText human_us(double ns);                      /* the same in microseconds */
HumanText human_percent(double part, double whole); /* 12.3; - for NaN and of nothing */
