// SPDX-License-Identifier: Apache-2.0
// Signals of programs that run for long and keep what they have when they are stopped.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// From now on SIGINT, SIGTERM and, unless they are ignored (as SIGHUP under nohup), the other
// signals that would end the program (SIGQUIT, SIGALRM, SIGXCPU, ...) ask for the end, and end a
// system call that waits; a second SIGINT ends the program at once. Writing into a pipe that nobody
// reads fails, and ends nothing.
void signals_catch(void);

// What is done, once, before one of these signals ends a program that does not ask for its end.
// Only what is safe in a signal handler.
typedef void signals_clean_fn(void);
void signals_clean_with(signals_clean_fn *with);

// This process is to end, at once, when `parent`, which started it, does. False where that one is
// gone already.
bool signals_end_with(pid_t parent);

// Not 0 once the end was asked for.
const volatile sig_atomic_t *signals_stop(void);

#ifdef __cplusplus
}
#endif
