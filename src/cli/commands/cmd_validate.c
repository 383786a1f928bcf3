/* roofstep validate: whether files are whole and consistent. */
#include "base/escape.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/validate/validate.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct Counts {
    int files, bad;
} Counts;

/* Beside the files of a suite or a profile. */
static const char *find_reason(const char *path, bool in_folder)
{
    struct stat info;
    if (stat(path, &info) != 0) return NULL;
    if (S_ISDIR(info.st_mode)) return in_folder ? "a folder in a folder" : NULL;
    return validate_is_document(path) ? "for people to read" : NULL;
}

static void check_file(Text *text, const char *path, bool in_folder, Counts *counts)
{
    ValidateNote note;
    const char *reason = find_reason(path, in_folder);
    if (reason) {
        escape_put(text, ESCAPE_LINE, path);
        text_printf(text, ": not checked: %s\n", reason);
        return;
    }
    const bool whole = validate_file(path, &note) == ST_OK;
    counts->files++;
    counts->bad += !whole;
    /* All of it, and on one line: scripts look for it. */
    escape_put(text, ESCAPE_LINE, path);
    text_puts(text, whole ? ": ok: " : ": bad: ");
    escape_put(text, ESCAPE_LINE, whole ? note.s : status_message());
    text_puts(text, "\n");
}

static int is_seen(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The traces of ranks are a folder; what it holds is checked, folders in it are not. */
static void check_path(Text *text, const char *path, Counts *counts)
{
    struct dirent **entries = NULL;
    const int n = scandir(path, &entries, is_seen, alphasort);
    if (n <= 0)
        check_file(text, path, false, counts); /* no folder, or nothing in it, which is bad */
    for (int i = 0; i < n; i++) {
        CLEANUP(text_free) Text file = {0};
        text_printf(&file, "%s/%s", path, entries[i]->d_name);
        check_file(text, text_str(&file), true, counts);
        free(entries[i]);
    }
    free(entries);
}

/* Of one file its line says it. */
static void put_counts(Text *text, const Counts *counts)
{
    if (counts->bad == 0)
        text_printf(text, "\n%d files, all whole and consistent.\n", counts->files);
    else
        text_printf(text, "\n%d of %d files %s bad.\n", counts->bad, counts->files,
                    counts->bad == 1 ? "is" : "are");
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)sweep;
    CLEANUP(text_free) Text text = {0};
    Counts counts = {0};
    if (settings->n_args == 0) return FAIL(ST_USAGE, "needs a file: roofstep validate FILE...");
    for (int i = 0; i < settings->n_args; i++) check_path(&text, settings->args[i], &counts);
    if (counts.bad > 0) *exit_code = EXIT_FAILED;
    if (counts.files > 1) put_counts(&text, &counts);
    return output_text(settings, &text);
}

static const char help[] =
    "Checks each file, and those of a folder, prints one line about it, and exits with 1 when one "
    "is bad:\n"
    "  results (json, jsonl)    fields; in profiles, children add up to their parents\n"
    "  a trace (json, json.gz)  slices nest, calls and kernels pair, arrows land\n"
    "  CSVs of profile          header, sums, shares\n"
    "  limits --format json     matmul and memory are there, medians in range\n"
    "  plan --format json       phases add up to the step, memory to its peak\n"
    "  memory --format json     uses add up to peaks, no two tensors share a place\n"
    "  suite.json               every part is present with its state\n"
    "  memory --snapshot FILE   its events, replayed, leave what its segments hold\n"
    "\n"
    "  roofstep validate prof/*\n"
    "  roofstep validate roofstep-report/*.json roofstep-report/memory.pickle\n";

const Command cmd_validate = {
    .name = "validate",
    .summary = "whether files that the other commands wrote are whole and consistent",
    .help = help,
    .options = {.taken = OPTION_LIST(OPTION_OUT), .args = "FILE...", .formats = "md"},
    .run = run,
};
