/* What an errno means, as strerror() has it, and for a limit that a user can raise how to raise it. */
#pragma once

const char *error_text(int error);
