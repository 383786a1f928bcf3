#include "prof/activity_cupti.h"

Status activity_cupti_check(void)
{
    return FAIL(ST_UNSUPPORTED, "this build has no CUPTI");
}

Status activity_cupti_start(TraceLog *names)
{
    (void)names;
    return activity_cupti_check();
}

void activity_cupti_stop(void)
{
}

Observer activity_cupti_observer(void)
{
    return (Observer){0};
}

Status activity_cupti_collect(TraceEvent **events, size_t *n, size_t *dropped)
{
    *events = NULL;
    *n = *dropped = 0;
    return activity_cupti_check();
}
