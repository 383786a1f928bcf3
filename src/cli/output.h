/* Writes a command's result to --out or stdout. */
#pragma once

#include "bench/record/record_set.h"
#include "config/option.h"
#include "report/format/table.h"

#include <limits.h>

/* Without --format the ending of --out decides; --out - is stdout. A table fits the width of the terminal.
 * ST_USAGE: the command has no format with that ending. Names without an ending or with .txt, pipes and
 * devices get the command's first format. */
Status output_choose_format(Settings *settings, const OptionSet *options);

/* Locks the file and removes the temporary file of a process that was killed while writing it. */
Status output_take(const char *path);
/* Locks every named output file until the program ends; call it before anything is read or written. ST_USAGE:
 * another process writes one of them, or two options name the same file. A command locks its own folder. */
Status output_lock(const Settings *settings, const OptionSet *options);

/* ST_USAGE: --nvtx or --annotate-mha in a build without NVTX. */
Status output_check_nvtx(const Settings *settings);

/* Checks that the file can be written, before the work; NULL: no file. */
Status output_check_path(const char *path);
/* Checks that --out can be written, before a measurement whose result would be lost. Skips pipes and devices:
 * they can be opened only once. */
Status output_check_file(const Settings *settings);

/* folder/name. ST_USAGE: it is too long. */
Status output_path(const char *folder, const char *name, char path[PATH_MAX]);

/* An empty set whose records name this machine and this command line. The caller frees it. */
Status output_rows_init(RecordSet *rows, const Settings *settings);

/* Prints to stdout, with terminal control characters escaped: the text may hold names of files. */
Status output_print(const Text *text);
/* Writes the whole text or nothing when it goes to a file. */
Status output_text(const Settings *settings, const Text *text);
/* Writes the text where --out says unless `made` is a failure, and frees it. Returns the first failure. */
Status output_finish(const Settings *settings, Text *text, Status made);
/* Prints the table as Markdown unless `made` is a failure, and frees it. Returns the first failure. */
Status output_table(Table *table, Status made);
/* ST_NO_MEMORY: an allocation failed while some text was made, so the output is incomplete. */
Status output_whole(void);
/* Says on stderr, after the output on stdout, where the page is and how to open it. */
void output_tell_page(const char *path);
/* The same for folder/index.html; in a build without pages, how to make the page elsewhere. */
void output_tell_folder(const char *folder);
/* Appends the value as indented JSON. */
Status output_json(Text *text, const json_t *json);
