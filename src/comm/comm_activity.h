/* What a rank does with the others, for whoever watches its process. */
#pragma once

#include <stdatomic.h>

typedef enum CommActivity { COMM_OUTSIDE, COMM_STARTS, COMM_COLLECTIVE } CommActivity;

/* It is told here from now on. NULL: nobody watches. */
void comm_activity_tell(_Atomic int *activity);
void comm_activity_enter(CommActivity activity);
