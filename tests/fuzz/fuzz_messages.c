/* What a cell, or another program that runs it (peers/), tells the process that started it: lines
 * of JSON that arrive in pieces. Whatever they say, a row comes of them that is written and read
 * again. */
#include "bench/cell/cell_record.h"
#include "bench/measure/line_reader.h"
#include "bench/record/record_check.h"
#include "bench/record/record_file.h"
#include "harness.h"

#include <signal.h>

enum { LIMIT = 1 << 16 };

static void take(void *self, const char *line, size_t length)
{
    cell_record_take(self, line, length);
}

/* In pieces of 1, 2, 4 ... bytes and from the start again, so that a line is cut at many places. */
static bool feed(CellRecord *cell, const uint8_t *data, size_t n)
{
    LineReader reader = {.limit = LIMIT};
    bool whole = true;
    for (size_t at = 0, piece = 1; at < n && whole; piece = piece < 4096 ? 2 * piece : 1) {
        const size_t part = piece < n - at ? piece : n - at;
        harness_forget();
        whole = harness_taken(line_reader_feed(&reader, (const char *)data + at, part, take, cell),
                              HARNESS_MAY(FAILED) | HARNESS_MAY(NO_MEMORY));
        at += part;
    }
    if (whole) line_reader_flush(&reader, take, cell);
    text_free(&reader.line);
    return whole;
}

static void read_back(Record *record)
{
    RecordSet set, again;
    Text text = {0};
    json_t *environment = json_pack("{s:s}", "id", "0");
    if (record_check(record) != ST_OK) harness_fail("no row: %s", status_message());
    if (record_set_init(&set, environment) != ST_OK || record_set_init(&again, NULL) != ST_OK)
        harness_fail("no set");
    json_object_del(record, "environment_id"); /* the parent's, whatever the cell says */
    if (record_set_add(&set, record) != ST_OK || record_file_jsonl(&text, &set) != ST_OK)
        harness_fail("not written: %s", status_message());
    if (record_file_parse(&again, text_str(&text), text.n, "f", NULL) != ST_OK ||
        record_set_size(&again) != 1)
        harness_fail("not read again: %s", status_message());
    text_free(&text);
    record_set_free(&again);
    record_set_free(&set);
    json_decref(environment);
}

static void run(CellRecord *cell, const uint8_t *data, size_t n, ChildResult end)
{
    if (!feed(cell, data, n)) end = (ChildResult){.end = CHILD_FLOODED, .text = "a long line"};
    cell_record_again(cell);
    feed(cell, data, n / 2);
    harness_forget();
    if (harness_taken(cell_record_finish(cell, &end), HARNESS_MAY(NO_MEMORY)))
        read_back(cell->record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const Peer peer = {"torch", "best", "eager", "flash"};
    static const ChildResult ends[] = {
        {.end = CHILD_RETURNED},
        {.end = CHILD_RETURNED, .code = 1, .text = "exit code 1"},
        {.end = CHILD_SIGNALLED, .code = SIGKILL, .text = "killed"},
        {.end = CHILD_TIMED_OUT, .text = "10 s are over"},
        {.end = CHILD_INTERRUPTED, .code = SIGINT, .text = "interrupted"},
    };
    Config config;
    CellRecord ours, theirs;
    harness_folder();
    config_defaults(&config);
    config.until = n % 2 ? 0.01 : 0;
    config.stat = (Stat)(n % STAT_COUNT);
    if (cell_record_begin(&ours, &config, NULL) != ST_OK ||
        cell_record_begin(&theirs, &config, &peer) != ST_OK)
        harness_fail("no record: %s", status_message());
    run(&ours, data, n, (ChildResult){.end = CHILD_RETURNED});
    run(&theirs, data, n, ends[n % (sizeof ends / sizeof *ends)]);
    harness_taken(peer_judge(ours.record, &theirs.record, 1), HARNESS_MAY(NO_MEMORY));
    cell_record_free(&ours);
    cell_record_free(&theirs);
    return 0;
}
