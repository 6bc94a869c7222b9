// SPDX-License-Identifier: Apache-2.0
// Signals of programs that run for long and keep what they have when they are stopped.
#pragma once

#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

// From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored, as under nohup) ask for the end,
// and end a system call that waits; a second SIGINT ends the program at once. Writing into a pipe
// that nobody reads fails, and ends nothing.
void signals_catch(void);

// Not 0 once the end was asked for.
const volatile sig_atomic_t *signals_stop(void);

#ifdef __cplusplus
}
#endif
