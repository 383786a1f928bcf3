#include "cli/device_price.h"

#include <stdlib.h>
#include <string.h>

/* "2.49/h" or "2.49". */
Status device_price_read(const Settings *settings, double *price)
{
    char *end = NULL;
    *price = settings->price ? strtod(settings->price, &end) : 0;
    if (!settings->price) return ST_OK;
    if (end != settings->price && (*end == '\0' || strcmp(end, "/h") == 0) && *price > 0 &&
        *price < 1e9)
        return ST_OK;
    return FAIL(ST_USAGE, "--price: '%s' is no price of an hour, as 2.49/h", settings->price);
}
