/* roofstep report: result files -> one page, or the tables for a paper. */
#include "base/file_lock.h"
#include "base/folder.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/temp_file.h"
#include "cli/chart_folder.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/published/published_page.h"
#include "report/findings/summary.h"
#include "report/page/page.h"
#include "report/page/page_bundle.h"
#include "report/page/table_files.h"

#include <string.h>

#define PAGE_NAME "roofstep.html"

/* The last line of the page's summary is what to do about the step. */
static Status put_last(Text *out, const PageInput *input)
{
    CLEANUP(json_text_free) json_t *lines = json_array();
    TRY(summary_add(lines, input->files, input->n_files));
    const size_t n = json_array_size(lines);
    if (n > 0) text_puts(out, json_string_value(json_array_get(lines, n - 1)));
    return text_status(out);
}

static Status write_page(const Settings *settings, const PageInput *input)
{
    CLEANUP(text_free) Text text = {0}, last = {0};
    Settings to = *settings;
    if (!to.out) to.out = PAGE_NAME;
    if (strcmp(to.out, "-") == 0) to.out = NULL;
    TRY(page_write(&text, input));
    TRY(put_last(&last, input));
    TRY(output_whole());
    TRY(output_text(&to, &text));
    if (!to.out) return ST_OK;
    output_tell_page(to.out);
    if (last.n > 0) log_note("%s", text_str(&last));
    return ST_OK;
}

static Status write_tables(const char *folder, const PageInput *input)
{
    TRY(folder_make(folder));
    TRY(file_lock_take_folder(folder));
    temp_file_remove_stale(folder); /* after one that was killed */
    return table_files_write(folder, input);
}

static Status write_charts(const char *folder, const PageInput *input)
{
    CLEANUP(text_free) Text text = {0};
    TRY(page_write(&text, input));
    TRY(folder_make(folder));
    TRY(file_lock_take_folder(folder));
    temp_file_remove_stale(folder);
    return chart_folder_write(folder, &text);
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)sweep;
    (void)exit_code;
    if (settings->n_args == 0)
        return FAIL(ST_USAGE, "needs result files: roofstep report results.json --out page.html");
    const bool only_files = !settings->out && (settings->tables || settings->charts);
    if (!only_files || settings->charts) TRY(page_check_built());
    CLEANUP(page_bundle_free) PageBundle bundle = {0};
    CLEANUP(published_page_free) PublishedPages published = {0};
    TRY(page_bundle_read(&bundle, settings->args, settings->n_args));
    TRY(published_page_read(&published, &bundle));
    const PageInput input = published_page_input(&published, &bundle, settings->command_line);
    if (settings->tables) TRY(write_tables(settings->tables, &input));
    if (settings->charts) TRY(write_charts(settings->charts, &input));
    return only_files ? ST_OK : write_page(settings, &input);
}

static const char help[] =
    "Makes one page of result files of bench, attention, profile, warmup, precision and\n"
    "collective (json, jsonl), memory, limits and forecast (json), and a trace of profile: "
    "summary,\n"
    "tables, charts, machine, commands. A folder stands for its results.json, or else for its\n"
    "result files. The page is a single file and needs no network. Cells that several\n"
    "files share are compared with the first file, with verdicts. --tables writes every table\n"
    "as Markdown, LaTeX and Typst, --charts every chart as SVG and CSV (Chromium draws them),\n"
    "instead of the page, or beside it with --out.\n"
    "\n"
    "  roofstep report results.json --out page.html\n"
    "  roofstep report roofstep-report                  (all that a suite measured)\n"
    "  roofstep report limits.json bench.json attention.json memory.json\n"
    "  roofstep report profile/profile.json profile/profile_trace.json.gz\n"
    "  roofstep report before.json after.json --out change.html\n"
    "  roofstep report results.json --tables paper --charts paper\n";

const Command cmd_report = {
    .name = "report",
    .summary = "result files as one self-contained HTML page; its tables for papers",
    .help = help,
    .options = {.taken = OPTION_LIST(OPTION_OUT, OPTION_TABLES, OPTION_CHARTS),
                .args = "FILE...",
                .out = PAGE_NAME},
    .run = run,
};
