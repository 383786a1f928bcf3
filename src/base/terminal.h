/* The terminal that a stream goes to. */
#pragma once

/* Its columns; 0 where the file descriptor is none, or a terminal that does not say. */
int terminal_columns(int fd);
