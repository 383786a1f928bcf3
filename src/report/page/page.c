#include "report/page/page.h"

#include "base/array.h"
#include "base/escape.h"
#include "report/page/page_template.h"

#include <string.h>

bool page_is_built(void)
{
    return page_template != NULL;
}

Status page_check_built(void)
{
    if (page_template) return ST_OK;
    return FAIL(
        ST_UNSUPPORTED,
        "this build has no HTML report, for what draws its charts was not there when it was "
        "built: remove build/ and run ./roofstep, which fetches them with npm or says why "
        "not, or take --tables DIR");
}

Status page_write(Text *out, const PageInput *input)
{
    json_t *data = NULL;
    TRY(page_check_built());
    TRY(page_data_make(&data, input));
    /* More digits than a chart can show. */
    CLEANUP(array_free) char *json = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(7));
    json_decref(data); /* much larger than its text: not beside the page */
    if (!json) return NO_MEMORY("for the data of a page");
    const char *at = strstr(page_template, PAGE_TEMPLATE_DATA);
    text_append(out, page_template, (size_t)(at - page_template));
    escape_put(out, ESCAPE_SCRIPT, json);
    text_puts(out, at + strlen(PAGE_TEMPLATE_DATA));
    return text_status(out);
}
