#include "bench/measure/interrupt.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_SIGNALS = sizeof signals / sizeof signals[0] };

static volatile sig_atomic_t caught;
static struct sigaction before[N_SIGNALS];
static bool active;

/* The second one does what it did before: it removes what is unfinished and ends the program. */
static void note(int signal)
{
    caught = signal;
    for (int i = 0; i < N_SIGNALS; i++) {
        if (signals[i] == signal) sigaction(signal, &before[i], NULL);
    }
}

void interrupt_begin(void)
{
    caught = 0;
    if (active) return;
    for (int i = 0; i < N_SIGNALS; i++) {
        /* SA_RESTART: files are written undisturbed. */
        struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], NULL, &before[i]);
        /* nohup and a shell's background jobs ignore some of them; that stays so. */
        if (before[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
    }
    active = true;
}

void interrupt_end(void)
{
    if (!active) return;
    for (int i = 0; i < N_SIGNALS; i++) sigaction(signals[i], &before[i], NULL);
    active = false;
    caught = 0; /* or the next child would be stopped, too */
}

int interrupt_signal(void)
{
    return caught;
}

void interrupt_reset_child(void)
{
    for (int i = 0; i < N_SIGNALS; i++) {
        if (active) sigaction(signals[i], &before[i], NULL);
    }
}
