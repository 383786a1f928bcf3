#include "report/records/measured_phase.h"

#include <stdio.h>
#include <string.h>

bool measured_phase_number(const Record *r, const char *path, double *out)
{
    char phase[32];
    const char *dot = strchr(path, '.');
    snprintf(phase, sizeof phase, "%.*s", dot ? (int)(dot - path) : 0, path);
    if (dot && record_phase_status(r, phase) != RECORD_OK) return false;
    return record_number(r, path, out);
}

static bool is_asked_for(const Record *r, const char *phase)
{
    const char *mode = record_text(r, "mode");
    if (mode && strcmp(phase, "backward") == 0)
        return strcmp(mode, config_modes[MODE_FWD]) != 0 &&
               strcmp(mode, config_modes[MODE_FWD_GRAD]) != 0;
    if (mode && strcmp(phase, "optimizer") == 0) return strcmp(mode, config_modes[MODE_TRAIN]) == 0;
    return true;
}

/* What ends a row whenever it comes: before the first sample or after some. */
static bool is_cut_short(RecordStatus status)
{
    return status == RECORD_TIMEOUT || status == RECORD_KILLED || status == RECORD_FAILED;
}

RecordStatus measured_phase_status(const Record *r, const char *phase)
{
    const RecordStatus own = record_phase_status(r, phase), row = record_status(r);
    if (own != RECORD_STATUS_COUNT || !is_cut_short(row)) return own;
    return is_asked_for(r, phase) ? row : own;
}
