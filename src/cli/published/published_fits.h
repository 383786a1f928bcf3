/* Rows that cannot be run here, by the plan: known before any process is begun for them. */
#ifndef CLI_PUBLISHED_PUBLISHED_FITS_H
#define CLI_PUBLISHED_PUBLISHED_FITS_H

#include "bench/record/record.h"
#include "cli/published/published_order.h"

typedef struct PublishedFit {
    RecordStatus status; /* ok, oom or unsupported */
    bool runs;           /* as a whole, or in a smaller mode: */
    Mode mode;           /* the largest that fits */
    size_t needs, has;   /* bytes, of what does not fit as a whole */
    char message[256];   /* empty: it fits */
} PublishedFit;

/* Opens the device: call it in a process of its own, or after the last one. A GPU that is not here has what
 * --memory-limit gives it; without one everything fits. */
Status published_fits_find(const Config *config, PublishedFit *fit);

/* Marks waiting rows that cannot be run at all as left out, and says in one line how many and why. */
Status published_fits_leave_out(PublishedOrder *order);

#endif
