/* What a shell completes, from the tables that parse: `roofstep help bash`, `roofstep help zsh`. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "base/text.h"

void completion_bash(Text *out);
void completion_zsh(Text *out);

#endif
