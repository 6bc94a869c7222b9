// SPDX-License-Identifier: Apache-2.0
// Signals: what asks a run for its end, and what must not end it half-way.

#include <weft/files/signals.h>

static volatile sig_atomic_t stop_asked;

static void ask_stop(int signal)
{
	(void)signal;
	stop_asked = 1;
}

const volatile sig_atomic_t *signals_stop(void)
{
	return &stop_asked;
}

void signals_catch(void)
{
	struct sigaction of_hangup;
	const struct sigaction ask = {.sa_handler = ask_stop}; // without SA_RESTART: it ends a wait
	struct sigaction ask_once = ask;
	ask_once.sa_flags = SA_RESETHAND; // the second Ctrl-C ends what does not look
	sigaction(SIGINT, &ask_once, NULL);
	sigaction(SIGTERM, &ask, NULL);
	if (sigaction(SIGHUP, NULL, &of_hangup) == 0 && of_hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &ask, NULL); // nohup has it ignored
	signal(SIGPIPE, SIG_IGN);
}
