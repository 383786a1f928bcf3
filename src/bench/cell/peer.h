/* Another program that runs the same cells, to be compared with: PyTorch, in several variants
 * (peers/torch_bench.py). It tells what it finds as our own cells do (bench/measure/cell_link.h). */
#pragma once

#include "bench/measure/cell_link.h"

enum { PEER_MAX = 7 };

typedef struct Peer {
    const char *name, *variant;   /* "torch", "best" */
    const char *exec, *attention; /* what that is in our words */
} Peer;

/* What was asked for on the command line; a NULL name stands for no peer. */
typedef struct PeerChoice {
    const char *name;     /* --peer */
    const char *variants; /* --peer-variant; NULL: the best there is for the cell's device */
    int rounds;           /* ours and theirs run in turn as often */
} PeerChoice;

/* The peers of a cell, in the order they were named. ST_USAGE: no such peer or variant. */
Status peer_list(const PeerChoice *choice, const Config *config, Peer peers[PEER_MAX], int *n);

/* Adds words to the peer's command line, each with the zero byte that ends it, in the child of its cell.
 * A failure is how the cell ends. */
typedef Status PeerWords(const Config *config, Text *words);

/* In the child of a cell: becomes the peer. Returns only when that cannot be (ST_UNSUPPORTED).
 * `so_far` is its record after the rounds before this one: it multiplies with the same BLAS again.
 * `more` may be NULL. */
Status peer_run(const Peer *peer, const Config *config, const Record *so_far, PeerWords *more,
                CellLink *link);

/* A record for what the peer will find, with a `cell` of its own. */
Status peer_record_new(Record **out, const Peer *peer, const Config *config);

/* Puts into our record the fastest peer, and how many times as long as ours its median step is;
 * nothing where one of the two was not measured whole. */
Status peer_judge(Record *ours, Record *const *theirs, int n);
