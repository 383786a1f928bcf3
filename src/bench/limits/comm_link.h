/* Links between ranks, as the latency of a message and the bandwidth of what a rank sends.
 *
 * Ranks form a ring. Of n ranks and an array of S bytes, with a latency of a and a bandwidth of b:
 *
 *   all_reduce                   2 (n - 1) messages of S / n: 2 (n - 1) (a + S / (n b))
 *   all_gather, reduce_scatter   (n - 1) messages of S / n:   (n - 1) (a + S / (n b))
 *   broadcast                    n - 1 messages behind each other: (n - 1) a + S / b
 *
 * Where ranks fill m nodes (machines) of g ranks, and all of a node use their links between nodes at once:
 *
 *   all_reduce       reduce_scatter of S in the node, all_reduce of S / g between m nodes, all_gather of S in
 *                    the node
 *   reduce_scatter   of S in the node, of S / g between nodes
 *   all_gather       of S / g between nodes, of S in the node
 *   broadcast        of S between nodes, of S in the node */
#pragma once

#include "bench/limits/limits.h"

typedef struct CommLink {
    double latency;   /* seconds */
    double bandwidth; /* bytes per second, in one direction; 0: not known */
} CommLink;

/* How many ranks there are while a link is measured; more ranks go by the last of these. */
enum { COMM_LINK_COUNTS = 2 };
extern const int comm_link_ranks[COMM_LINK_COUNTS];

typedef struct CommLinks {
    CommLink link[COMM_LINK_COUNTS][COLLECTIVE_COUNT]; /* in a node */
    CommLink between;                                  /* nodes */
    int64_t ranks_per_node;                            /* 0: all ranks are in one node */
} CommLinks;

/* BANDWIDTH,LATENCY as "450GB/s,5us". ST_USAGE quotes what is wrong. */
Status comm_link_parse(const char *s, CommLink *out);
/* The same link whatever the collective and the number of ranks. */
void comm_link_set_all(CommLinks *links, CommLink link);
/* Of a collective of n ranks in a node; bandwidth 0: not known. */
CommLink comm_link_find(const CommLinks *links, Collective op, int64_t n);

/* Messages behind each other, and how often a rank sends the array: the bus bandwidth by the algorithm
 * bandwidth as nccl-tests define the two. */
double comm_link_messages(Collective op, int64_t n);
double comm_link_bus_factor(Collective op, int64_t n);
/* Seconds of a collective of n ranks. NAN: a link is not known, or n ranks fill no whole nodes. */
double comm_link_seconds(const CommLinks *links, Collective op, double bytes, int64_t n);

/* Where measured links are among the limits. */
LimitId comm_link_latency(int count, Collective op);
LimitId comm_link_bandwidth(int count, Collective op);
/* What the limits have of links. False: nothing. */
bool comm_link_of_limits(const Limits *limits, CommLinks *out);
