/* Which node of the communication queue each node of the other has to wait for: the last one before it, in
 * the order of the plan, that reads or writes memory of its operands or its workspace, for the same tensor
 * or, where the arena uses memory again, for another. Those before it are through then, too.
 *
 * Nodes of the communication queue wait for everything before them in the plan. */
#pragma once

#include "exec/binding.h"

/* Fills binding->waits, when its memory is planned. */
Status node_waits_find(Binding *binding);
