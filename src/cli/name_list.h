/* `--model list` and `--gpu list`: a table of the names that an option takes. */
#pragma once

#include "config/option.h"
#include "report/format/table.h"

/* Fills a table and the sentence that ends it, and writes them to --out or stdout, as Markdown without
 * --format. ST_USAGE: the format is none of tables for people, or the command writes no text. */
Status name_list_write(const Settings *settings, const OptionSet *options, OptionId option,
                       Status (*fill)(Table *table, Text *conclusion));

Status model_list_fill(Table *table, Text *conclusion);
Status gpu_list_fill(Table *table, Text *conclusion);
