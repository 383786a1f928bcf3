/* Escapes text from elsewhere (files, their names, the environment), so that a program that reads the output
 * takes it as plain text. escape.c has one table of characters for each format.
 *
 * Hidden characters are written as numbers in every format, because a terminal or an editor acts on them:
 * control characters (ESC, DEL, C1), bytes that are not UTF-8, line and paragraph separators, direction
 * marks. */
#pragma once

#include "base/text.h"

#include <stdint.h>

typedef enum EscapeFormat {
    ESCAPE_SCREEN, /* lines on a terminal: tabs and line breaks stay */
    ESCAPE_LINE,   /* one line: a message, a comment of LaTeX or Typst */
    ESCAPE_MD,     /* Markdown that shows the text itself */
    ESCAPE_LATEX,  /* LaTeX that shows the text itself */
    ESCAPE_TYPST,  /* between double quotes */
    ESCAPE_CSV,  /* between double quotes; csv_writer_field() handles text that begins a formula */
    ESCAPE_SQL,  /* between single quotes */
    ESCAPE_XML,  /* the text of an element, or an attribute in quotes */
    ESCAPE_JSON, /* between double quotes */
    ESCAPE_IN_JSON, /* a whole JSON document, whose value stays the same */
    ESCAPE_SCRIPT,  /* a whole JSON document inside <script> */
    ESCAPE_FORMATS
} EscapeFormat;

void escape_put(Text *out, EscapeFormat format, const char *text);
/* Writes one argument of a shell command: bare, in quotes where it needs them, or as $'...' with bytes in
 * octal ($'\033') where it has hidden characters. */
void escape_shell(Text *text, const char *argument);

/* Decodes the UTF-8 character at `s`, which is not empty. Returns its length in bytes; 0: invalid. */
size_t escape_decode(const char *s, uint32_t *code);
/* Is it one of the hidden characters above? */
bool escape_hidden(uint32_t code);
/* Removes the last character if the end of a buffer cut it in two. */
void escape_trim(char *text);
/* Each byte that is not UTF-8 becomes '?'. */
void escape_repair(char *text);
