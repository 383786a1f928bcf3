#include "prof/ranges_nvtx.h"

Status ranges_nvtx_check(void)
{
    return FAIL(ST_UNSUPPORTED, "this build has no NVTX: it comes with CUDA (README.md)");
}

Status ranges_nvtx_open(RangesNvtx **out, const Binding *binding, bool parts)
{
    (void)binding;
    (void)parts;
    *out = NULL;
    return ranges_nvtx_check();
}

void ranges_nvtx_close(RangesNvtx *ranges)
{
    (void)ranges;
}

Observer ranges_nvtx_observer(RangesNvtx *ranges)
{
    (void)ranges;
    return (Observer){0};
}

void ranges_nvtx_push(const char *name)
{
    (void)name;
}

void ranges_nvtx_pop(void)
{
}
