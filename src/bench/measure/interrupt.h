/* Ctrl-C and its relatives (SIGINT, SIGTERM, SIGHUP) as a question to ask, so that what is finished
 * can be written before the program ends. A second one ends it at once. */
#pragma once

void interrupt_begin(void);
/* Puts everything back as it was. */
void interrupt_end(void);
/* The signal that came between the two, or 0. It ends a poll() early. */
int interrupt_signal(void);
/* In a child: signals act as they did before interrupt_begin(). */
void interrupt_reset_child(void);
