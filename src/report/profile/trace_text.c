#include "report/profile/trace_text.h"

#include "base/escape.h"

void trace_text_string(Text *t, const char *s)
{
    text_puts(t, "\"");
    escape_put(t, ESCAPE_JSON, s);
    text_puts(t, "\"");
}

void trace_text_time(Text *t, const char *name, int64_t ns)
{
    text_printf(t, ", \"%s\": %lld.%03lld", name, (long long)(ns / 1000), (long long)(ns % 1000));
}

void trace_text_slice(Text *t, const char *category, const char *name, int pid, int tid, int64_t at,
                      int64_t took)
{
    text_printf(t, ",\n{\"ph\": \"X\", \"cat\": \"%s\", \"name\": ", category);
    trace_text_string(t, name);
    text_printf(t, ", \"pid\": %d, \"tid\": %d", pid, tid);
    trace_text_time(t, "ts", at);
    trace_text_time(t, "dur", took);
    text_puts(t, ", \"args\": {");
}

void trace_text_flow(Text *t, const char *ph, int pid, int tid, int64_t at, uint32_t id)
{
    text_printf(t,
                ",\n{\"ph\": \"%s\", \"id\": %u, \"pid\": %d, \"tid\": %d, \"cat\": \"ac2g\", "
                "\"name\": \"ac2g\"%s",
                ph, id, pid, tid, *ph == 'f' ? ", \"bp\": \"e\"" : "");
    trace_text_time(t, "ts", at);
    text_puts(t, "}");
}

void trace_text_named(Text *t, const char *what, int pid, int tid, const char *key,
                      const char *value)
{
    text_printf(t,
                ",\n{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": 0, "
                "\"args\": {\"%s\": ",
                what, pid, tid, key);
    trace_text_string(t, value);
    text_puts(t, "}}");
}
