/* Result files, json and jsonl: read, written again, in every format of a report, as tables of
 * profiles, and compared. An input may hold two files, "@@ b" between them; else it is compared
 * with itself. */
#include "bench/record/comparison_gate.h"
#include "bench/record/record_file.h"
#include "bench/record/record_stat.h"
#include "harness.h"
#include "report/format/table_md.h"
#include "report/profile/profile_tables.h"
#include "report/records/report.h"
#include "report/study/comparison_report.h"

#include <string.h>

static const unsigned refusals = HARNESS_MAY(USAGE) | HARNESS_MAY(NO_MEMORY);

typedef struct Inputs {
    RecordSet sets[2];
    int n;
    bool taken[2];
} Inputs;

/* jansson's text may hold a line break: the reader of records is to put it on one line. */
static bool parse(RecordSet *set, const char *text, size_t n)
{
    bool torn = false;
    if (record_set_init(set, NULL) != ST_OK) harness_fail("no set");
    harness_forget();
    const bool taken = harness_taken(record_file_parse(set, text, n, "f.json", &torn), refusals);
    if (!taken && strpbrk(status_message(), "\n\r"))
        harness_fail("a message of two lines: %s", status_message());
    if (!taken && record_set_size(set) > 0) harness_fail("rows of a file that was refused");
    return taken;
}

static void add(void *self, const char *name, const uint8_t *data, size_t n)
{
    (void)name;
    Inputs *in = self;
    if (in->n == 2) return;
    in->taken[in->n] = parse(&in->sets[in->n], (const char *)data, n);
    in->n++;
}

/* ---- written and read again ---- */

static void read_back(RecordSet *again, const RecordSet *set, bool lines)
{
    Text text = {0};
    const Status status = lines ? record_file_jsonl(&text, set) : record_file_json(&text, set);
    if (status != ST_OK) harness_fail("not written again: %s", status_message());
    if (!parse(again, text_str(&text), text.n))
        harness_fail("what was written is refused: %s", status_message());
    text_free(&text);
    if (record_set_size(again) != record_set_size(set)) harness_fail("rows are lost");
}

/* The first time digits beyond the fifteenth go. */
static void check_round_trip(const RecordSet *set)
{
    RecordSet again, third;
    for (int lines = 0; lines < 2; lines++) {
        read_back(&again, set, lines);
        read_back(&third, &again, !lines);
        if (!json_equal(again.results, third.results) ||
            !json_equal(again.environments, third.environments))
            harness_fail("rows are not the same after they were written and read");
        record_set_free(&third);
        record_set_free(&again);
    }
}

/* ---- what is made of them ---- */

static void write_reports(const RecordSet *set)
{
    static const char *const formats[] = {
#define REPORT(kind, name, ending, help) #name,
#include "report/format/reports.def"
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const ReportInput input = {.set = set, .baseline = i % 2 ? "fp32" : NULL};
        Text text = {0};
        harness_forget();
        harness_taken(report_write(&text, formats[i], &input), refusals);
        text_free(&text);
    }
}

static void write_profiles(const RecordSet *set)
{
    const ProfileTables how = {.format = "md", .top = 10, .source = true};
    Text text = {0};
    for (size_t i = 0; i < record_set_size(set); i++) {
        if (!record_value(record_set_at(set, i), "profile")) return;
    }
    harness_forget();
    harness_taken(profile_tables_write(&text, &how, set), refusals);
    text_free(&text);
}

static void compare(const RecordSet *a, const RecordSet *b)
{
    static const char *const formats[] = {"md", "csv", "json", "latex", "typst"};
    Comparison comparison;
    const ComparisonReport report = {&comparison, a, b, "a", "b"};
    harness_forget();
    const bool made = harness_taken(comparison_make(&comparison, a, b), refusals);
    for (int i = 0; made && i < 5; i++) {
        Text text = {0};
        harness_taken(comparison_report_write(&text, formats[i], &report), refusals);
        text_free(&text);
    }
    if (made) (void)comparison_gate_make(&comparison, 0.05);
    comparison_free(&comparison);
}

static void use(RecordSet *set)
{
    check_round_trip(set);
    write_reports(set);
    if (record_set_size(set) > 0) write_profiles(set);
    for (int stat = 0; stat < STAT_COUNT; stat++)
        harness_taken(record_stat_change_set(set, (Stat)stat), refusals);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    Inputs in = {0};
    harness_folder();
    harness_split(data, n, add, &in);
    if (in.n == 0) add(&in, "", data, 0);
    const int last = in.n - 1;
    if (in.taken[0] && in.taken[last]) compare(&in.sets[0], &in.sets[last]);
    for (int i = 0; i < in.n; i++) {
        if (in.taken[i]) use(&in.sets[i]);
        record_set_free(&in.sets[i]);
    }
    return 0;
}
