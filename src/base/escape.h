/* Text that others wrote (files, their names, the environment), written so that what reads a format
 * takes it as text: one table of characters for each format, in escape.c.
 *
 * In every format, characters that act without being seen are written by their numbers: ESC and the
 * other controls, DEL, the C1 controls, bytes that are not UTF-8, line and paragraph separators,
 * marks that reorder a line. */
#pragma once

#include "base/text.h"

#include <stdint.h>

typedef enum EscapeFormat {
    ESCAPE_SCREEN,  /* lines on a terminal: tabs and line breaks stay */
    ESCAPE_LINE,    /* one line: a message, a comment of LaTeX or Typst */
    ESCAPE_MD,      /* Markdown that shows the text itself */
    ESCAPE_LATEX,   /* the same of LaTeX */
    ESCAPE_TYPST,   /* between double quotes */
    ESCAPE_CSV,     /* between double quotes; what begins a formula is up to csv_writer_field() */
    ESCAPE_SQL,     /* between single quotes */
    ESCAPE_XML,     /* an element's text or an attribute in quotes */
    ESCAPE_JSON,    /* between double quotes */
    ESCAPE_IN_JSON, /* JSON that is whole: it stays the same value */
    ESCAPE_SCRIPT,  /* the same inside <script> */
    ESCAPE_FORMATS
} EscapeFormat;

void escape_put(Text *out, EscapeFormat format, const char *text);
/* One argument as a shell would have to read it: quoted only where it must be, by bytes in octal
 * ($'\033') where it holds what acts without being seen. */
void escape_shell(Text *text, const char *argument);

/* Bytes of the character at `s`, which must not be the end; 0: it does not begin one of UTF-8. */
size_t escape_decode(const char *s, uint32_t *code);
/* It acts without being seen. */
bool escape_hidden(uint32_t code);
/* Takes off the last character where a buffer's end cut it. */
void escape_trim(char *text);
/* Each byte that is not UTF-8 becomes '?'. */
void escape_repair(char *text);
