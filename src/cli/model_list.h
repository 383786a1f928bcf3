/* --model list: the models that the program brings along. */
#pragma once

#include "base/status.h"

/* Prints one row for each. `format`: of tables for people; "" is Markdown. */
Status model_list_print(const char *format);
