// SPDX-License-Identifier: Apache-2.0
// Of memory from the system, where a program can do nothing without it. Beside check(): it is
// neither a bug nor bad input.
#pragma once

// Says that there is not enough memory, then ends the program (exit 3). Defined where
// check_failed() is.
void check_memory_failed(void) __attribute__((noreturn));

#define check_memory(condition) \
	do { \
		if (__builtin_expect(!(condition), 0)) \
			check_memory_failed(); \
	} while (0)
