#ifndef OPS_ADAM_STATE_H
#define OPS_ADAM_STATE_H

/* Advances the STATE_COUNT numbers of a step state (plan/step_state.h) by one step. */
void adam_state_next(double *state);

#endif
