/* --model list: the models that the program brings along. */
#pragma once

#include "config/option.h"

/* Writes one row for each to --out or stdout, as Markdown without --format. ST_USAGE: the format is none of
 * tables for people, or the command writes no text. */
Status model_list_write(const Settings *settings, const OptionSet *options);
