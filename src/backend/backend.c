#include "backend/backend.h"

#define BACKEND(name) extern const BackendApi name##_backend;
#include "backend/backends.def"

const BackendApi *backend_api(BackendId id)
{
    static const BackendApi *const apis[BACKEND_COUNT] = {
#define BACKEND(name) &name##_backend,
#include "backend/backends.def"
    };
    return id < BACKEND_COUNT ? apis[id] : 0;
}
