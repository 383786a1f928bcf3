#include "report/profile/trace_ranks.h"

#include "base/gzip_file.h"
#include "report/profile/trace_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- of one rank ---- */

TraceProcess trace_ranks_process(const Comm *comm)
{
    TraceProcess name = {"roofstep"};
    if (comm) snprintf(name.s, sizeof name.s, "rank %d", comm_rank(comm));
    return name;
}

/* rank stands on a line of its own and after a blank: HTA looks for it line by line. */
void trace_ranks_info(Text *t, const Comm *comm)
{
    text_printf(t,
                "  \"distributedInfo\": {\"backend\": \"%s\", \"rank\": %d, \"world_size\": %d},\n",
                comm ? "mpi" : "none", comm ? comm_rank(comm) : 0, comm ? comm_ranks(comm) : 1);
}

/* As PyTorch calls it. */
static const char *dtype_name(DType dtype)
{
    return dtype == DT_BF16 ? "BFloat16" : dtype == DT_F16 ? "Half" : "Float";
}

void trace_ranks_collective(Text *t, const Plan *plan, int node)
{
    const Node *n = &plan->nodes[node];
    const Tensor *in = plan_in(plan, n, 0), *out = plan_out(plan, n, 0);
    text_printf(t,
                ", \"Collective name\": \"%s\", \"In msg nelems\": %lld, \"Out msg nelems\": %lld, "
                "\"Group size\": %lld, \"dtype\": \"%s\", \"tensor\": ",
                plan_op_name(n->op), (long long)plan_elements(in), (long long)plan_elements(out),
                (long long)plan_ranks(plan), dtype_name(in->dtype));
    trace_text_string(t, out->name);
}

/* ---- all of them ---- */

Status trace_ranks_path(const char *folder, int rank, char *path, size_t size)
{
    const int n = snprintf(path, size, "%s/rank-%d.json.gz", folder, rank);
    return n >= 0 && (size_t)n < size ? ST_OK : FAIL(ST_USAGE, "%s: the path is too long", folder);
}

enum { PROCESSES = 16 }; /* of a rank's trace: itself and its GPUs */

typedef struct Merge {
    GzipFile *out;
    int rank;
    long long base, shift; /* ns: the earliest; what this rank's times are to be moved by */
    long long pids[PROCESSES];
    int n_pids;
    bool begun;
} Merge;

/* Processes of one rank follow each other, from 100 for rank 0. */
static long long merged_pid(Merge *m, long long pid)
{
    enum { FIRST = 100 };
    int i = 0;
    while (i < m->n_pids && m->pids[i] != pid) i++;
    if (i == m->n_pids && i < PROCESSES) m->pids[m->n_pids++] = pid;
    return FIRST * (m->rank + 1LL) + i;
}

/* The number after `key` in what is left of the line; NULL: it has none. */
static const char *number_after(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? at + strlen(key) : NULL;
}

/* Copies up to the number, and puts another in its place. */
static const char *replace(Text *t, const char *line, const char *number, long long value)
{
    text_append(t, line, (size_t)(number - line));
    text_printf(t, "%lld", value);
    return number + strspn(number, "0123456789");
}

/* "12.345" us, moved. */
static const char *replace_time(const Merge *m, Text *t, const char *line, const char *number)
{
    char *end = NULL;
    const long long us = strtoll(number, &end, 10);
    const long long ns = *end == '.' ? strtoll(end + 1, &end, 10) : 0;
    const long long at = us * 1000 + ns + m->shift;
    text_append(t, line, (size_t)(number - line));
    text_printf(t, "%lld.%03lld", at / 1000, at % 1000);
    return end;
}

/* One event, as the writer of traces puts it on a line: pid, then ts; id of an arrow before both, correlation
 * among the arguments. In strings quotes have a backslash, so that the keys are keys. */
static void put_event(Merge *m, const char *line)
{
    Text *t = &m->out->text;
    const long long ids = (long long)m->rank << 32;
    const bool named = strncmp(line, "{\"ph\": \"M\"", 10) == 0;
    const char *number = number_after(line, "\"id\": ");
    if (number) line = replace(t, line, number, ids + strtoll(number, NULL, 10));
    number = number_after(line, "\"pid\": ");
    if (number) line = replace(t, line, number, merged_pid(m, strtoll(number, NULL, 10)));
    number = named ? NULL : number_after(line, "\"ts\": ");
    if (number) line = replace_time(m, t, line, number);
    number = number_after(line, "\"correlation\": ");
    if (number && *number != '0') line = replace(t, line, number, ids + strtoll(number, NULL, 10));
    text_puts(t, line);
}

static void put_head(Text *t, int n, long long base)
{
    text_puts(t, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [],\n");
    text_puts(t, "  \"distributedInfo\": {\"backend\": \"mpi\", \"ranks\": [");
    for (int r = 0; r < n; r++) text_printf(t, "%s%d", r ? ", " : "", r);
    text_printf(t,
                "], \"world_size\": %d},\n  \"displayTimeUnit\": \"ms\",\n  "
                "\"baseTimeNanoseconds\": %lld,\n  \"traceEvents\": [\n",
                n, base);
}

static Status put_line(Merge *m, char *line)
{
    const size_t length = strlen(line);
    if (length > 0 && line[length - 1] == ',') line[length - 1] = '\0';
    if (m->begun) text_puts(&m->out->text, ",\n");
    m->begun = true;
    put_event(m, line);
    return gzip_file_flush(m->out);
}

static Status merge_text(Merge *m, char *text, const char *path, int n)
{
    const char *base = number_after(text, "\"baseTimeNanoseconds\": ");
    char *at = strstr(text, "\"traceEvents\": [\n");
    if (!base || !at) return FAIL(ST_IO, "%s is no trace of a rank", path);
    m->shift = strtoll(base, NULL, 10);
    if (m->rank == 0) put_head(&m->out->text, n, m->base);
    m->shift -= m->base;
    at += strlen("\"traceEvents\": [\n");
    while (*at == '{') {
        char *end = strchr(at, '\n');
        if (!end) return FAIL(ST_IO, "%s is cut short", path);
        *end = '\0';
        TRY(put_line(m, at));
        at = end + 1;
    }
    return ST_OK;
}

/* In the first lines. */
static Status read_base(const char *path, long long *base)
{
    char head[4096];
    gzFile file = gzopen(path, "rbe");
    if (!file) return FAIL(ST_IO, "cannot read %s: %s", path, strerror(errno));
    const int n = gzread(file, head, sizeof head - 1);
    gzclose_r(file);
    head[n > 0 ? n : 0] = '\0';
    const char *number = number_after(head, "\"baseTimeNanoseconds\": ");
    if (!number) return FAIL(ST_IO, "%s is no trace of a rank", path);
    *base = strtoll(number, NULL, 10);
    return ST_OK;
}

static Status find_base(Merge *m, const char *folder, int n)
{
    m->base = INT64_MAX;
    for (int r = 0; r < n; r++) {
        char path[4096];
        long long base = 0;
        TRY(trace_ranks_path(folder, r, path, sizeof path));
        TRY(read_base(path, &base));
        if (base < m->base) m->base = base;
    }
    return ST_OK;
}

static Status merge_all(GzipFile *out, const char *path, const char *folder, int n)
{
    Merge m = {.out = out};
    TRY(find_base(&m, folder, n));
    for (; m.rank < n; m.rank++) {
        char from[4096];
        CLEANUP(text_free) Text text = {0};
        m.n_pids = 0;
        TRY(trace_ranks_path(folder, m.rank, from, sizeof from));
        TRY(gzip_file_read(&text, from, PACKED_FILE_MOST));
        TRY(merge_text(&m, text.data ? text.data : (char[]){""}, from, n));
    }
    const char *slash = strrchr(path, '/');
    text_puts(&out->text, "\n  ],\n  \"traceName\": ");
    trace_text_string(&out->text, slash ? slash + 1 : path);
    text_puts(&out->text, "\n}\n");
    return ST_OK;
}

Status trace_ranks_merge(const char *path, const char *folder, int n)
{
    GzipFile out;
    TRY(gzip_file_open(&out, path));
    const Status status = merge_all(&out, path, folder, n);
    if (status == ST_OK) return gzip_file_finish(&out);
    gzip_file_abandon(&out);
    return status;
}
