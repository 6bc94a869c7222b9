// SPDX-License-Identifier: Apache-2.0
// Signals: what asks a run for its end, what must not end it half-way, and what is taken away where
// one ends a program at once.

#include <weft/files/signals.h>

#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

// All that end a program which does nothing about them, but for those that say that it is broken.
static const int endings[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT,   SIGALRM,
			      SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF};
#define ENDINGS (sizeof(endings) / sizeof(*endings))

static volatile sig_atomic_t stop_asked, interrupts;
static signals_clean_fn *clean;

static void end_at_once(int signal_number)
{
	if (clean != NULL)
		clean();
	signal(signal_number, SIG_DFL);
	raise(signal_number); // blocked until this returns
}

static void ask_stop(int signal_number)
{
	if (signal_number == SIGINT && interrupts++ > 0) // a second one ends what does not look
		end_at_once(signal_number);
	stop_asked = 1;
}

const volatile sig_atomic_t *signals_stop(void)
{
	return &stop_asked;
}

static void handle(int signal_number, void (*with)(int), bool is_always)
{
	struct sigaction there;
	const struct sigaction ours = {.sa_handler = with}; // no SA_RESTART: it ends a wait
	if (sigaction(signal_number, NULL, &there) != 0)
		return;
	if (is_always || (there.sa_handler != SIG_IGN && there.sa_handler != ask_stop))
		sigaction(signal_number, &ours, NULL);
}

void signals_catch(void)
{
	for (size_t i = 0; i < ENDINGS; i++) // nohup has SIGHUP ignored
		handle(endings[i], ask_stop, endings[i] == SIGINT || endings[i] == SIGTERM);
	signal(SIGPIPE, SIG_IGN);
}

void signals_clean_with(signals_clean_fn *with)
{
	clean = with;
	for (size_t i = 0; i < ENDINGS; i++)
		handle(endings[i], end_at_once, false);
}

bool signals_end_with(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}
