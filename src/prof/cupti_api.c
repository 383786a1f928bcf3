#include "prof/cupti_api.h"

#include <dlfcn.h>
#include <stddef.h>

CuptiApi cupti_api;

Status cupti_api_load(void)
{
    static const char *const places[] = {ROOFSTEP_CUPTI_LIBRARY, "libcupti.so.13", "libcupti.so.12",
                                         "libcupti.so"};
    void *library = NULL;
    if (cupti_api.enable) return ST_OK;
    for (size_t i = 0; !library && i < sizeof places / sizeof *places; i++)
        library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) return FAIL(ST_UNSUPPORTED, "CUPTI cannot be loaded: %s", dlerror());
#define FUNCTION(field, symbol)                                \
    *(void **)&cupti_api.field = dlsym(library, NAME(symbol)); \
    if (!cupti_api.field) return FAIL(ST_UNSUPPORTED, "CUPTI has no " NAME(symbol));
#define NAME(symbol) #symbol
    CUPTI_API_FUNCTIONS(FUNCTION)
#undef NAME
#undef FUNCTION
    *(void **)&cupti_api.enable_runtime = dlsym(library, "cuptiActivityEnableRuntimeApi");
    *(void **)&cupti_api.enable_driver = dlsym(library, "cuptiActivityEnableDriverApi");
    uint32_t version = 0;
    if (cupti_api.version(&version) == CUPTI_SUCCESS && version >= CUPTI_API_VERSION) return ST_OK;
    cupti_api.enable = NULL;
    return FAIL(ST_UNSUPPORTED, "CUPTI is version %u, older than the one compiled for (%u)",
                version, (unsigned)CUPTI_API_VERSION);
}

Status cupti_api_status(CUptiResult result, const char *what)
{
    const char *text = NULL;
    if (result == CUPTI_SUCCESS) return ST_OK;
    cupti_api.result_string(result, &text);
    return FAIL(ST_DEVICE, "CUPTI: %s: %s", what, text ? text : "unknown error");
}
