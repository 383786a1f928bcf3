/* Links between the ranks of this machine: their latency and bandwidth, measured by cells of `collective` and
 * stored beside the limits, whatever the number of threads. */
#pragma once

#include "bench/limits/comm_link.h"
#include "bench/measure/rank_launch.h"

/* Stored links, or else (or with `refresh`) new ones; stored unless other programs used so much of the
 * machine that they are none (with `keep`: even then). `launch` starts ranks of `collective`. The caller
 * must be single-threaded. ST_UNSUPPORTED: ranks cannot be started here; the message says what to install. */
Status limits_links_get(const RankLaunch *launch, bool refresh, bool keep, Limits *out);
/* Only stored ones. */
bool limits_links_find(Limits *out);
/* Puts links among the limits of the same machine. */
void limits_links_add(Limits *to, const Limits *links);
/* Stores limits with the links among them, as `limits` writes them: each where it is looked for. */
Status limits_links_store_both(const Limits *both);
