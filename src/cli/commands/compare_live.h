/* compare --live OLD NEW -- bench ...: reads what is asked, runs it, writes it. */
#pragma once

#include "config/sweep.h"

Status compare_live(const Settings *settings, const Sweep *sweep, int *exit_code);
