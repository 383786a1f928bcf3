/* What is known of published rows that were not run: whether they fit, their memory by the plan, and
 * their times by what the same implementation reached in the rows that were run. */
#pragma once

#include "cli/published/published_order.h"

typedef struct PublishedFit {
    RecordStatus status; /* ok, oom or unsupported */
    bool runs;           /* in its own mode or a smaller one: */
    Mode mode;           /* the largest that fits */
    size_t needs, has;   /* bytes, where its own mode does not fit */
    char message[256];   /* empty: it fits */
} PublishedFit;

/* Opens the device: call it in a child process, or after the last one. A GPU that is not here has
 * --memory-limit bytes; without that option everything fits. */
Status published_estimate_fit(const Config *config, PublishedFit *fit);
/* Marks waiting rows that cannot run as left out, and says in one line how many and why. */
Status published_estimate_leave_out(PublishedOrder *order);

/* Fills {CELL: {FIGURE: x}} for the figures that the records lack. The file of results keeps it, because
 * the machine that makes the page may have other devices. */
Status published_estimate_fill(json_t *expected, int writeup, const PublishedCells *cells,
                               const PublishedRecords *records);
/* For a row that had no time: `status` and `message` where it does not fit or is not supported; `fits` is
 * the mode that does. NULL: it could be run. */
const Record *published_estimate_reason(const json_t *expected, const Config *config);
/* NAN: none. */
double published_estimate_figure(const json_t *expected, const char *path, const Config *config);
