/* What an errno means, as strerror() has it, and for a limit that a user can raise how to raise it. */
#ifndef BASE_ERROR_TEXT_H
#define BASE_ERROR_TEXT_H

const char *error_text(int error);

#endif
