/* Processes whose parent ended before them. Once adopted they are children of this process,
 * wherever in the tree below it they began, and can be ended and waited for. */
#pragma once

/* From now on. */
void orphans_adopt(void);
/* Ends every child of this process and waits until they are gone, and so on with those that they
 * leave. For a process that has no other children. */
void orphans_end(void);
