// SPDX-License-Identifier: Apache-2.0
// Seeds of random tests: which ones the environment asks for, and the command that runs again the
// one in flight, told when the program ends before the seed does, however it ends.
#pragma once

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char seed_command[512]; // empty: none is in flight

// The number in environment variable `name`, else `otherwise`.
static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

// Safe in a handler of signals.
static void seed_tell(void)
{
	ssize_t written = write(STDERR_FILENO, seed_command, strlen(seed_command));
	(void)written;
	seed_command[0] = '\0';
}

static void seed_signal(int signal_number)
{
	seed_tell();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

// A failed check() exits, a timeout is SIGTERM; what a program does wrong with memory is cmocka's,
// and then an exit, or a sanitizer's.
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void seed_watch(void)
{
	atexit(seed_tell);
	signal(SIGTERM, seed_signal);
	signal(SIGINT, seed_signal);
	signal(SIGABRT, seed_signal);
	if (__sanitizer_set_death_callback != NULL)
		__sanitizer_set_death_callback(seed_tell);
}

// `seed` of the test whose variables begin with `prefix` (WEFT_SWARM) begins.
static void seed_begin(const char *prefix, uint64_t seed)
{
	static bool is_watched;
	if (!is_watched)
		seed_watch();
	is_watched = true;
	snprintf(seed_command, sizeof(seed_command),
		 "seed %llu did not end well: %s_FIRST=%llu %s_COUNT=1 %s\n",
		 (unsigned long long)seed, prefix, (unsigned long long)seed, prefix,
		 program_invocation_name);
}

// All of them ended well.
static void seeds_end(void)
{
	seed_command[0] = '\0';
}
