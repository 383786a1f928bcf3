/* Rows that cannot be run here, by the plan: known before any process is begun for them. */
#ifndef CLI_LIKE_FITS_H
#define CLI_LIKE_FITS_H

#include "bench/record.h"
#include "cli/like_order.h"

typedef struct LikeFit {
    RecordStatus status; /* ok, oom or unsupported */
    bool runs;           /* as a whole, or in a smaller mode: */
    Mode mode;           /* the largest that fits */
    size_t needs, has;   /* bytes, of what does not fit as a whole */
    char message[256];   /* empty: it fits */
} LikeFit;

/* Opens the device: call it in a process of its own, or after the last one. A GPU that is not here has what
 * --memory-limit gives it; without one everything fits. */
Status like_fits_find(const Config *config, LikeFit *fit);

/* Marks waiting rows that cannot be run at all as left out, and says in one line how many and why. */
Status like_fits_leave_out(LikeOrder *order);

#endif
