/* Where a command's result goes: --out, or stdout. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/text.h"
#include "config/option.h"
#include "config/settings.h"

#include <jansson.h>

/* Without --format the ending of --out decides; --out - is stdout. A table for a terminal is made to fit.
 * ST_USAGE: the command writes nothing that ends so. Names without an ending or with .txt, pipes and devices
 * get the command's first format. */
Status output_choose_format(Settings *settings, const OptionSet *options);

/* file_lock_take(), and what one that was killed while it put this file in place left beside it is removed. */
Status output_take(const char *path);
/* Before anything is read or written: takes the locks of all files that are named, to the end of the program. ST_USAGE:
 * another process writes one of them, or two options name one file. Folders are locked by those who make them. */
Status output_lock(const Settings *settings, const OptionSet *options);

/* ST_USAGE: ranges were asked for and this build has none. */
Status output_check_nvtx(const Settings *settings);

/* Before a measurement whose result would be lost: whether --out can be written. Pipes and devices, which can be
 * opened once only, are not looked at. */
Status output_check_file(const Settings *settings);

/* To stdout, without what a terminal obeys: names in it are those of files. */
Status output_print(const Text *text);
/* Whole or not at all when it is a file. */
Status output_text(const Settings *settings, const Text *text);
/* ST_NO_MEMORY: a piece of some text was left out for want of memory, so this must not pass for done. */
Status output_whole(void);
/* Says on stderr, after all that is on stdout, where a page is and how to look at it. */
void output_tell_page(const char *path);
/* The same of folder/index.html, or, in a build without pages, how to make it elsewhere. */
void output_tell_folder(const char *folder);
/* Appends the value, indented, for people who look at it too. */
Status output_json(Text *text, const json_t *json);

#endif
