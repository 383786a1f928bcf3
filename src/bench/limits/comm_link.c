#include "bench/limits/comm_link.h"

#include "base/human.h"
#include "base/parse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const int comm_link_ranks[COMM_LINK_COUNTS] = {2, 4};

/* ---- from text ---- */

static Status check(const CommLink *link)
{
    static const double most_latency = 1, most_bandwidth = 1e15;
    if (!(link->bandwidth >= 1)) return FAIL(ST_USAGE, "a link has a bandwidth above 0");
    if (link->bandwidth > most_bandwidth)
        return FAIL(ST_USAGE, "a bandwidth of %s/s is too large; at most 1000TB/s",
                    human_bytes(link->bandwidth).s);
    if (link->latency > most_latency)
        return FAIL(ST_USAGE, "a latency of %.6g s is too large; give its unit, as 5us",
                    link->latency);
    return ST_OK;
}

Status comm_link_parse(const char *s, CommLink *out)
{
    enum { LONGEST = 64 };
    char bandwidth[LONGEST];
    const char *comma = strchr(s, ',');
    if (!comma || comma - s >= LONGEST)
        return FAIL(ST_USAGE, "%s is not BANDWIDTH,LATENCY such as 450GB/s,5us", human_quote(s).s);
    snprintf(bandwidth, sizeof bandwidth, "%.*s", (int)(comma - s), s);
    TRY(parse_rate(bandwidth, &out->bandwidth));
    TRY(parse_seconds(comma + 1, &out->latency));
    return check(out);
}

/* ---- of a collective ---- */

void comm_link_set_all(CommLinks *links, CommLink link)
{
    for (int k = 0; k < COMM_LINK_COUNTS; k++) {
        for (int op = 0; op < COLLECTIVE_COUNT; op++) links->link[k][op] = link;
    }
}

CommLink comm_link_find(const CommLinks *links, Collective op, int64_t n)
{
    CommLink found = {0};
    for (int k = 0; k < COMM_LINK_COUNTS; k++) {
        const CommLink *link = &links->link[k][op];
        const bool first = !(found.bandwidth > 0);
        if (link->bandwidth > 0 && (first || comm_link_ranks[k] <= n)) found = *link;
    }
    return found;
}

double comm_link_messages(Collective op, int64_t n)
{
    return (op == COLLECTIVE_ALL_REDUCE ? 2 : 1) * (double)(n - 1);
}

double comm_link_bus_factor(Collective op, int64_t n)
{
    const double share = (double)(n - 1) / (double)n;
    return op == COLLECTIVE_ALL_REDUCE ? 2 * share : op == COLLECTIVE_BROADCAST ? n > 1 : share;
}

static double ring(CommLink link, Collective op, double bytes, int64_t n)
{
    if (n <= 1) return 0;
    if (!(link.bandwidth > 0)) return NAN;
    return comm_link_messages(op, n) * link.latency +
           comm_link_bus_factor(op, n) * bytes / link.bandwidth;
}

static double in_node(const CommLinks *links, Collective op, double bytes, int64_t n)
{
    return ring(comm_link_find(links, op, n), op, bytes, n);
}

double comm_link_seconds(const CommLinks *links, Collective op, double bytes, int64_t n)
{
    const int64_t g = links->ranks_per_node;
    if (g == 0 || n <= g) return in_node(links, op, bytes, n);
    if (n % g != 0) return NAN;
    const double part = op == COLLECTIVE_BROADCAST ? bytes : bytes / (double)g;
    const double between = ring(links->between, op, part, n / g);
    if (op != COLLECTIVE_ALL_REDUCE) return in_node(links, op, bytes, g) + between;
    return in_node(links, COLLECTIVE_REDUCE_SCATTER, bytes, g) + between +
           in_node(links, COLLECTIVE_ALL_GATHER, bytes, g);
}

/* ---- among the limits ---- */

/* In limits.def: for each number of ranks and each collective a latency, then a bandwidth. */
enum { FIRST = LIMIT_ALL_REDUCE_2_LATENCY, EACH = 2 };
_Static_assert(LIMIT_BROADCAST_4_BANDWIDTH - LIMIT_ALL_REDUCE_2_LATENCY + 1 ==
                   EACH * COMM_LINK_COUNTS * COLLECTIVE_COUNT,
               "a latency and a bandwidth of every collective and number of ranks");

LimitId comm_link_latency(int count, Collective op)
{
    return (LimitId)(FIRST + EACH * (count * COLLECTIVE_COUNT + (int)op));
}

LimitId comm_link_bandwidth(int count, Collective op)
{
    return (LimitId)((int)comm_link_latency(count, op) + 1);
}

bool comm_link_of_limits(const Limits *limits, CommLinks *out)
{
    bool any = false;
    *out = (CommLinks){0};
    for (int k = 0; k < COMM_LINK_COUNTS; k++) {
        for (int op = 0; op < COLLECTIVE_COUNT; op++) {
            const LimitsRate *latency =
                &limits->rate[comm_link_latency(k, (Collective)op)][LIMITS_ALL];
            const LimitsRate *bandwidth =
                &limits->rate[comm_link_bandwidth(k, (Collective)op)][LIMITS_ALL];
            out->link[k][op] = (CommLink){latency->median, bandwidth->median};
            any |= bandwidth->median > 0;
        }
    }
    return any;
}
